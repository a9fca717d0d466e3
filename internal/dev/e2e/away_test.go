package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// notice is how long a capture may take to say what has happened to its interface.
const notice = time.Minute

// said waits until a capture has said something of its interface so many times.
func said(t *testing.T, c *Capture, iface, what string, times int) {
	t.Helper()
	_, err := c.WaitFor("dubbo-wire: "+iface+" "+what, times, notice)
	require.NoError(t, err)
}

// goesDown: the interface is taken down and up again, first between two rounds, then amid one. Nothing is lost: what TCP could not send
// meanwhile it sends again.
func goesDown(t *testing.T, r *rig) {
	c := r.capture(t, r.Provider, "", ProviderLink)
	require.NoError(t, r.consumer.Round("plain kryo"))
	r.settle(t)
	require.NoError(t, r.Link(r.Provider, ProviderLink, "down"))
	said(t, c, ProviderLink, "went down", 1)
	require.NoError(t, r.Link(r.Provider, ProviderLink, "up"))
	said(t, c, ProviderLink, "is up again", 1)
	require.NoError(t, r.consumer.Round("plain hessian2"))

	require.NoError(t, r.consumer.Begin("steady fst,fastjson"))
	time.Sleep(1500 * time.Millisecond)
	require.NoError(t, r.Link(r.Provider, ProviderLink, "down"))
	said(t, c, ProviderLink, "went down", 2)
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, r.Link(r.Provider, ProviderLink, "up"))
	said(t, c, ProviderLink, "is up again", 2)
	require.NoError(t, r.consumer.Finished(time.Minute))
	r.settle(t)
	r.truth(t, r.consumer).whole(t, stop(t, c))
}

// deleted: the interface is deleted, and one of its name is made later. What was before and what is after are in the report; of
// what happens amid calls, nothing is made up.
func deleted(t *testing.T, r *rig) {
	c := r.capture(t, r.Provider, "", ProviderLink)
	onAny := r.capture(t, r.Provider, "", "any")
	require.NoError(t, r.consumer.Round("plain kryo,fastjson"))
	r.settle(t)
	replace := func(times int) {
		require.NoError(t, r.Cut())
		said(t, c, ProviderLink, "disappeared", times)
		require.NoError(t, r.Join())
		said(t, c, ProviderLink, "is back", times)
	}
	replace(1)
	require.NoError(t, r.consumer.Round("plain hessian2,fst"))
	r.settle(t)
	between := r.truth(t, r.consumer)
	between.whole(t, stop(t, onAny))

	require.NoError(t, r.consumer.Begin("steady kryo"))
	time.Sleep(time.Second)
	replace(2)
	require.NoError(t, r.consumer.Finished(time.Minute))
	r.settle(t)
	all := r.truth(t, r.consumer)
	amid := *all // all that was sent, and what was sent amid
	amid.Groups = map[Key]*Group{}
	for _, t := range []*Truth{between, all} {
		for k, g := range t.Groups {
			if amid.Groups[k] == nil {
				amid.Groups[k] = new(Group)
			}
			amid.Groups[k].join(g)
		}
	}
	amid.Sent, amid.Heartbeats, amid.Events = all.Sent+between.Sent, all.Heartbeats+between.Heartbeats, all.Events+between.Events
	report := stop(t, c)
	amid.part(t, report)
	assert.Greater(t, report.Coverage.Frames, between.Sent, "nothing of what came after the second time")
	got := groups(t, report)
	for k, g := range between.Groups { // is all there
		assert.GreaterOrEqual(t, got[k].Calls, g.Calls, "%v", k)
		assert.GreaterOrEqual(t, got[k].Response.Total, g.Response.Total, "%v", k)
	}
}

// join adds the calls of another group.
func (g *Group) join(o *Group) {
	g.Calls += o.Calls
	g.OneWay += o.OneWay
	g.Errors += o.Errors
	g.Exceptions += o.Exceptions
	g.Unanswered += o.Unanswered
	g.Request.join(&o.Request)
	g.Response.join(&o.Response)
}
