package simulate

import (
	"runtime"
	"sync"
)

// inOrder plays what is numbered from 0 on and has take see one result after the
// other, in that order, for as long as more says so. Several are played ahead, on
// all processors, unless oneByOne; what take sees is the same on every machine.
func inOrder[T any](oneByOne bool, play func(n uint64) T, take func(T), more func() bool) {
	if oneByOne {
		for n := uint64(0); more(); n++ {
			take(play(n))
		}
		return
	}
	results := make(chan chan T, 4*runtime.GOMAXPROCS(0)) // some finish early
	enough := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { // ends with enough
		for n := uint64(0); ; n++ {
			result := make(chan T, 1)
			select {
			case results <- result:
				all.Go(func() { result <- play(n) }) // ends by itself
			case <-enough:
				return
			}
		}
	})
	for more() {
		take(<-<-results)
	}
	close(enough)
	all.Wait()
}
