package watch

import (
	"sync"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// Processes waits for the ends of the processes that sessions belong to. One
// process may serve many sessions and is waited for once.
type Processes struct {
	table  proc.Table
	exited func(event.Process)

	mu      sync.Mutex // guards watches and closed
	watches map[proc.ID]*waiting
	closed  bool
	wg      sync.WaitGroup
}

type waiting struct {
	*proc.Watch
	stop chan struct{} // closed when nobody is interested any more
}

// NewProcesses returns a Processes that calls exited, from a goroutine of its
// own, once for each watched process that ends.
func NewProcesses(table proc.Table, exited func(event.Process)) *Processes {
	return &Processes{table: table, exited: exited, watches: map[proc.ID]*waiting{}}
}

// Keep makes the set of watched processes equal to want: new ones are waited for,
// others no longer. A process that is already gone is reported like one that ends
// later. An error names a process that cannot be watched; the others are.
func (p *Processes) Keep(want []event.Process) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := make(map[proc.ID]bool, len(want))
	var failed error
	for _, process := range want {
		id := proc.ID{PID: process.PID, Start: process.Start}
		wanted[id] = true
		if p.watches[id] != nil || p.closed {
			continue
		}
		watch, err := p.table.Watch(id)
		if err != nil {
			failed = err
			continue
		}
		w := &waiting{watch, make(chan struct{})}
		p.watches[id] = w
		p.wg.Add(1)
		go func() { // ends with the process, Keep without it, or Close, which waits
			defer p.wg.Done()
			select {
			case <-w.Ended():
			case <-w.stop:
				return
			}
			p.mu.Lock()
			still := p.watches[id] == w // else dropped at the same moment
			if still {
				delete(p.watches, id)
			}
			p.mu.Unlock()
			if still {
				p.exited(process)
			}
		}()
	}
	for id := range p.watches {
		if !wanted[id] {
			p.dropLocked(id)
		}
	}
	return failed
}

func (p *Processes) dropLocked(id proc.ID) {
	w := p.watches[id]
	delete(p.watches, id)
	close(w.stop)
	w.Watch.Close()
}

// Close stops waiting for all. No call of exited begins after it returned.
func (p *Processes) Close() {
	p.mu.Lock()
	p.closed = true
	for id := range p.watches {
		p.dropLocked(id)
	}
	p.mu.Unlock()
	p.wg.Wait()
}
