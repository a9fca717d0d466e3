// Package queue is a doubly linked list whose links lie in its elements. Values come in at the end and go out at any
// place, each in constant time. A Link is part of the element that it stands for, so the list allocates nothing and owns
// nothing. It is not safe for concurrent use. It follows container/list, which allocates an element for each value.
package queue

// Queue is a list of values, in the order in which they were pushed. The zero value is empty.
type Queue[T any] struct {
	root Link[T]
}

// Link is the place of an element in a queue. Of is the element; it is set once, before the first Push.
type Link[T any] struct {
	prev, next *Link[T]
	Of         T
}

// Empty reports whether the queue has no element.
func (q *Queue[T]) Empty() bool { return q.root.next == nil || q.root.next == &q.root }

// First returns the element that was pushed first. The queue must not be empty.
func (q *Queue[T]) First() T { return q.root.next.Of }

// Newest reports whether l was pushed last.
func (q *Queue[T]) Newest(l *Link[T]) bool { return q.root.prev == l }

// Push puts a link at the end of the queue, unless it is in a queue already.
func (q *Queue[T]) Push(l *Link[T]) {
	if l.next != nil {
		return
	}
	if q.root.next == nil {
		q.root.next, q.root.prev = &q.root, &q.root
	}
	l.prev, l.next = q.root.prev, &q.root
	l.prev.next, l.next.prev = l, l
}

// Remove takes the link out of the queue that it is in, if it is in one.
func (l *Link[T]) Remove() {
	if l.next == nil {
		return
	}
	l.prev.next, l.next.prev = l.next, l.prev
	l.prev, l.next = nil, nil
}
