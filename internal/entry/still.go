package entry

import (
	"sync"

	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// still makes the machine of each folder look at each place once, whatever changes
// there afterwards. It is safe for use by several goroutines; the machines are not,
// so one of them looks at a time.
type still struct {
	mu     sync.RWMutex
	worlds map[string]gate.World
}

func (s *still) world(goos, dir string, getenv func(string) string, home string) gate.World {
	return once(&s.mu, s.worlds, dir, func() gate.World {
		w := gateWorld(goos, dir, getenv, home)
		// One lock for each folder, and not s.mu, which is held while this runs.
		mu := new(sync.RWMutex)
		w.Kind, w.Track, w.Resolve = memo(mu, w.Kind), memo(mu, w.Track), memo(mu, w.Resolve)
		w.ReadFile, w.Tracks, w.Glob = memo2(mu, w.ReadFile), memo2(mu, w.Tracks), memo2(mu, w.Glob)
		return w
	})
}

// once is what known has for key, asked for where it has nothing yet.
func once[K comparable, V any](mu *sync.RWMutex, known map[K]V, key K, ask func() V) V {
	mu.RLock()
	v, ok := known[key]
	mu.RUnlock()
	if ok {
		return v
	}
	mu.Lock()
	defer mu.Unlock()
	if v, ok = known[key]; !ok {
		v = ask()
		known[key] = v
	}
	return v
}

func memo[V any](mu *sync.RWMutex, f func(string) V) func(string) V {
	known := map[string]V{}
	return func(key string) V { return once(mu, known, key, func() V { return f(key) }) }
}

// memo2 is memo for questions of two parts and answers of two parts.
func memo2[B comparable, V any](mu *sync.RWMutex, f func(string, B) (V, bool)) func(string, B) (V, bool) {
	type question struct {
		a string
		b B
	}
	type answer struct {
		v  V
		ok bool
	}
	known := map[question]answer{}
	return func(a string, b B) (V, bool) {
		got := once(mu, known, question{a, b}, func() answer {
			v, ok := f(a, b)
			return answer{v, ok}
		})
		return got.v, got.ok
	}
}
