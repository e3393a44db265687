package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// How one runtime follows another without a gap: the new one asks the old one for
// its state (OpHandover); the old one stops listening, which frees the socket, and
// goes on holding; the new one takes the socket and holds of its own, and only
// then tells the old one to let go (OpRelease). If the new one dies on the way,
// the old one serves again after a while.

// predecessor is the old runtime as the new one sees it. A nil one is none.
type predecessor struct {
	conn  *ipc.Conn
	state *saved // nil: it is in the sessions file
}

// handoverLimit bounds each exchange with the old runtime.
const handoverLimit = 3 * time.Second

// takeOver asks a running runtime for its state. It returns nil without an error
// when none runs, and ErrRunning when the one that runs is not older.
func (d *daemon) takeOver(ctx context.Context) (*predecessor, error) {
	client := &ipc.Client{Version: d.Version, DialTimeout: handoverLimit, CallTimeout: handoverLimit,
		Dial: func(ctx context.Context) (net.Conn, error) { return d.Dial(ctx, d.Dirs.Socket) }}
	conn, err := client.Connect(ctx)
	if errors.Is(err, ipc.ErrNotRunning) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	reply, err := conn.Call(ctx, &ipc.Request{Op: ipc.OpHandover})
	var protocol *ipc.ProtocolError
	if errors.As(err, &protocol) && reply.OK {
		err = nil // of another protocol, and willing
	}
	if err != nil {
		conn.Close()
		var refused *ipc.RefusedError
		if errors.As(err, &refused) {
			return nil, fmt.Errorf("%w: %w", ErrRunning, err)
		}
		return nil, fmt.Errorf("taking over: %w", err)
	}
	from := &predecessor{conn: conn}
	if reply.State != nil {
		from.state = new(saved)
		if err := json.Unmarshal(reply.State, from.state); err != nil {
			from.abandon()
			return nil, fmt.Errorf("taking over: the old runtime's state: %w", err)
		}
	}
	return from, nil
}

// release tells the old runtime to let go and leave.
func (p *predecessor) release() {
	ctx, cancel := context.WithTimeout(context.Background(), handoverLimit)
	defer cancel()
	// Without an answer it lets go by itself once it finds the socket taken.
	_, _ = p.conn.Call(ctx, &ipc.Request{Op: ipc.OpRelease})
	p.conn.Close()
}

// abandon leaves the old runtime in place. It may be called with nil, and after
// release.
func (p *predecessor) abandon() {
	if p != nil {
		p.conn.Close()
	}
}

// releaseLimit is how long a runtime that handed over goes on holding without
// hearing from its successor.
const releaseLimit = 10 * time.Second

// handOver is the old runtime's side of OpHandover.
func (d *daemon) handOver(req *ipc.Request) *ipc.Reply {
	if req.Protocol == ipc.Protocol && !ipc.Newer(req.Version, d.Version) {
		return &ipc.Reply{Error: fmt.Sprintf("version %s is not newer than the running %s", req.Version, d.Version)}
	}
	if d.successor || d.server == nil {
		return &ipc.Reply{Error: ipc.HandingOver}
	}
	d.save()
	reply := &ipc.Reply{OK: true}
	if state, err := d.snapshot().bytes(); err == nil && len(state) < ipc.MaxMessage-1024 {
		reply.State = state // larger ones are read from the file just written
	}
	d.log.Info("handing over", "to", req.Version)
	d.successor = true
	d.leaveBy = d.Now().Awake + releaseLimit
	d.server.stop()
	if d.outbox != nil {
		go d.outbox.Pause() // the successor's from now on; it waits for no sink
	}
	d.retired, d.server = d.server, nil
	return reply
}

// release drops our holds and leaves: the successor has its own.
func (d *daemon) release() {
	if !d.successor && d.retired == nil {
		return
	}
	d.successor, d.gone = false, true
	d.leaveBy = d.Now().Awake + leaveLimit
	d.apply(MachineInput(awake.Input{Kind: awake.InHandedOver}))
}
