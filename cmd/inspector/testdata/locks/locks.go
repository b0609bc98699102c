// Package locks has what the check of the program's locks must find, and what
// it must let pass. The comment want says what is wrong in its line.
package locks

import (
	"os"
	"slices"
	"sync"
	"time"
)

type inner struct {
	mu sync.RWMutex
	n  int
}

func (i *inner) get() int {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.n
}

type getter interface{ get() int }

type outer struct {
	mu    sync.Mutex
	in    inner
	get   getter
	then  func() int
	ready chan struct{}
	wake  *sync.Cond
}

func newOuter() *outer {
	o := &outer{ready: make(chan struct{})}
	o.get = &o.in
	o.then = o.in.get
	o.wake = sync.NewCond(&o.mu)
	return o
}

func (o *outer) direct() {
	o.mu.Lock()
	o.in.mu.Lock() // want: takes locks.inner.mu
	o.in.mu.Unlock()
	o.mu.Unlock()
	o.in.mu.Lock()
	o.in.mu.Unlock()
}

func (o *outer) throughMethod() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.in.get() // want: takes locks.inner.mu
}

func (o *outer) throughInterface() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.get.get() // want: takes locks.inner.mu
}

func (o *outer) throughField() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.then() // want: takes locks.inner.mu
}

func (o *outer) locked(do func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	do() // want: takes locks.inner.mu
}

func (o *outer) throughParameter() {
	o.locked(func() { o.in.get() })
}

func (o *outer) throughLibrary(list []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.ContainsFunc(list, func(n int) bool { return n == o.in.get() }) // want: takes locks.inner.mu
}

func (o *outer) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.relock() // want: takes locks.outer.mu
}

func (o *outer) relock() {
	o.mu.Lock()
	o.mu.Unlock()
}

func (o *outer) deferred() {
	defer o.mu.Unlock()
	defer o.in.get() // want: takes locks.inner.mu
	o.mu.Lock()
}

func (o *outer) waits() {
	o.mu.Lock()
	<-o.ready // want: receives from a channel
	select {  // want: waits in a select
	case <-o.ready:
	case <-time.After(time.Second):
	}
	os.Stdin.Read(nil)      // want: calls (*os.File).Read
	time.Sleep(time.Second) // want: calls time.Sleep
	o.mu.Unlock()
	<-o.ready
}

func (o *outer) inOneBranch(is bool) {
	if is {
		o.mu.Lock()
	}
	o.in.get() // want: takes locks.inner.mu
	if is {
		o.mu.Unlock()
	}
}

func (o *outer) passes(is bool) {
	o.mu.Lock()
	go o.in.get()
	time.AfterFunc(time.Second, func() { o.in.get() })
	select {
	case o.ready <- struct{}{}:
	default:
	}
	for !is {
		o.wake.Wait()
	}
	if is {
		o.mu.Unlock()
		o.in.get()
		return
	}
	o.mu.Unlock()
	o.in.get()
}
