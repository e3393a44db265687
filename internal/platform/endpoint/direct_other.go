//go:build !unix

package endpoint

import (
	"context"
	"net"
)

// DialDirect is Dial: a named pipe is not waited for with threads of ours.
func DialDirect(ctx context.Context, path string) (net.Conn, error) { return Dial(ctx, path) }
