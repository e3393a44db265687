//go:build !linux

package network

import "testing"

// What the answer is depends on the machine; that there is one does not.
func TestUp_asksWithoutAnError(t *testing.T) {
	if up, err := Up(""); err != nil {
		t.Errorf("up %v, %v", up, err)
	}
}
