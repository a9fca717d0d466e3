package assemble

// queue is a list of values that can be taken out anywhere at once; a value's link is part of it.
type queue[T any] struct {
	root link[T]
}

type link[T any] struct {
	prev, next *link[T]
	of         T
}

func (q *queue[T]) empty() bool { return q.root.next == nil || q.root.next == &q.root }

// first is the value that was pushed first; there is one.
func (q *queue[T]) first() T { return q.root.next.of }

// push puts a link behind all others, unless it is in the queue.
func (q *queue[T]) push(l *link[T]) {
	if l.next != nil {
		return
	}
	if q.root.next == nil {
		q.root.next, q.root.prev = &q.root, &q.root
	}
	l.prev, l.next = q.root.prev, &q.root
	l.prev.next, l.next.prev = l, l
}

// remove takes a link out, if it is in.
func (q *queue[T]) remove(l *link[T]) {
	if l.next == nil {
		return
	}
	l.prev.next, l.next.prev = l.next, l.prev
	l.prev, l.next = nil, nil
}
