package ipc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrTooLarge is returned for a message longer than MaxMessage. The connection
// is of no use afterwards: where the next message would begin is not known.
var ErrTooLarge = errors.New("message larger than 1 MiB")

// Reader takes newline-delimited messages off a connection. It never holds more
// than MaxMessage bytes plus one read. It is for one goroutine.
type Reader struct {
	r   *bufio.Reader
	buf []byte
}

// firstRead is the size of a Reader's first buffer. Nearly every message, either
// way, is smaller; larger ones grow a buffer of their own.
const firstRead = 4 << 10

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, firstRead)} }

// Next returns the next message without its newline. The bytes are valid until
// the next call. io.EOF means that the peer closed between two messages,
// io.ErrUnexpectedEOF that it closed inside one: half a message is never
// returned, since it may parse as something else.
func (r *Reader) Next() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if len(r.buf)+len(part) > MaxMessage+1 {
			return nil, ErrTooLarge
		}
		switch {
		case err == nil && len(r.buf) == 0:
			return part[:len(part)-1], nil
		case err == nil:
			r.buf = append(r.buf, part...)
			return r.buf[:len(r.buf)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			r.buf = append(r.buf, part...)
		case errors.Is(err, io.EOF) && len(r.buf)+len(part) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// WriteMessage writes msg, which must be one JSON value without its newline, as
// one message in one write.
func WriteMessage(w io.Writer, msg []byte) error {
	if len(msg) > MaxMessage {
		return ErrTooLarge
	}
	if i := bytes.IndexByte(msg, '\n'); i >= 0 {
		return fmt.Errorf("message has a newline at byte %d", i)
	}
	_, err := w.Write(append(msg, '\n'))
	return err
}
