package simulate

import "time"

// queue is a heap of what is to come: its first entry is due before all others,
// in the order of seq among equals. It is container/heap for plain values, which
// would cost an allocation a call there.
type queue[T any] []entry[T]

type entry[T any] struct {
	at  time.Duration
	seq uint64
	do  T
}

func (a *entry[T]) before(b *entry[T]) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

func (q *queue[T]) push(at time.Duration, seq uint64, do T) {
	a := append(*q, entry[T]{at, seq, do})
	*q = a
	for i := len(a) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a[i].before(&a[parent]) {
			return
		}
		a[i], a[parent] = a[parent], a[i]
		i = parent
	}
}

// pop takes out the first entry; the queue must have one.
func (q *queue[T]) pop() T {
	a := *q
	first, last := a[0].do, len(a)-1
	a[0] = a[last]
	clear(a[last:])
	a = a[:last]
	*q = a
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a[child].before(&a[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		a[i], a[least] = a[least], a[i]
		i = least
	}
}
