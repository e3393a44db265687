package lid

import (
	"context"
	"sync"

	"github.com/lidguard-go/lidguard/internal/platform/notice"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

// heard is the backend of Windows: a Switch and the window that hears for it.
type heard struct {
	lid    *Switch
	window *notice.Window // nil where there is none
	why    string

	once sync.Once
}

func open(_ Options, changed func()) backend {
	h := &heard{lid: NewSwitch(PresenceOf(sleep.System{}))}
	w, err := notice.Open(func(k notice.Kind) {
		if state := StateOf(k); state != Unknown {
			h.lid.Tell(state)
			changed()
		}
	})
	if err != nil {
		h.why = err.Error()
	}
	h.window = w
	return h
}

func (h *heard) read(ctx context.Context) Reading {
	if h.window == nil {
		return Reading{Why: h.why}
	}
	return h.lid.Read(ctx)
}

func (*heard) pushes() bool { return true }

func (h *heard) close() {
	h.once.Do(func() {
		if h.window != nil {
			h.window.Close()
		}
	})
}
