package record

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

const (
	syn    = packet.SYN
	synAck = packet.SYN | packet.ACK
	ack    = packet.ACK
	fin    = packet.FIN | packet.ACK
	rst    = packet.RST
)

var client, server, other = endAt(1, 40000), endAt(2, 20880), endAt(3, 80)

// only is a recorder of some connections.
func only(t testing.TB) (*Recorder, string) {
	name := filepath.Join(t.TempDir(), "f")
	return open(t, Options{File: name, OnlyRPC: true, Now: clockAt(0)}), name
}

// tcp shows the recorder a segment whose packet is a text, as long as that.
func tcp(r *Recorder, at int64, a, b packet.Endpoint, flags uint8, data string, payload int) {
	r.Packet(pkt(at, data), packet.TCP, seg(a, b, flags, 1, payload))
}

// TestOnlyRPC keeps connections that carry messages whole, their handshakes included, and fragments; and nothing else.
func TestOnlyRPC(t *testing.T) {
	r, name := only(t)
	tcp(r, 1, client, server, syn, "c syn", 0)
	tcp(r, 2, client, other, syn, "o syn", 0)
	tcp(r, 3, server, client, synAck, "s synack", 0)
	tcp(r, 4, client, server, ack, "c ack", 0)
	r.Packet(pkt(5, "udp"), packet.NotTCP, nil)
	r.Packet(pkt(6, "fragment"), packet.Held, nil)
	tcp(r, 7, client, other, ack, "GET", 3)
	tcp(r, 8, client, server, ack, "half", 4)
	assert.Equal(t, int64(6), r.Stats().Undecided)
	assert.Equal(t, int64(1), r.Stats().Packets)
	r.Carries(server, client)
	tcp(r, 9, client, server, ack, "whole", 5)
	r.Carries(client, server)
	tcp(r, 10, server, client, ack, "answer", 6)
	require.NoError(t, r.Close())
	all, in := back(t, name)
	assert.Equal(t, []string{"fragment", "c syn", "s synack", "c ack", "half", "whole", "answer"}, texts(all))
	assert.Equal(t, []int64{6, 1, 3, 4, 8, 9, 10}, []int64{all[0].Time, all[1].Time, all[2].Time, all[3].Time, all[4].Time, all[5].Time, all[6].Time})
	assert.Equal(t, int64(1), in[0].FirstTime)
	s := r.Stats()
	assert.Equal(t, []int64{7, 3, 0, 11}, []int64{s.Packets, s.LeftOut, s.Undecided, s.LeftOutBytes})
}

// TestGenerations: ports that are used again by what carries no message, and by what does.
func TestGenerations(t *testing.T) {
	r, name := only(t)
	r.Packet(pkt(1, "old syn"), packet.TCP, seg(client, server, syn, 100, 0))
	r.Packet(pkt(2, "old syn again"), packet.TCP, seg(client, server, syn, 100, 0))
	assert.Equal(t, int64(2), r.Stats().Undecided)
	tcp(r, 3, client, server, rst, "old rst", 0)
	r.Packet(pkt(4, "new syn"), packet.TCP, seg(client, server, syn, 200, 0))
	assert.Equal(t, int64(1), r.Stats().Undecided)
	r.Carries(client, server)
	tcp(r, 5, client, server, fin, "fin", 0)
	tcp(r, 6, server, client, fin, "fin back", 0)
	tcp(r, 7, client, server, ack, "last ack", 0)
	tcp(r, 8, client, server, syn, "third syn", 0)
	assert.Zero(t, r.Stats().Undecided)
	tcp(r, 9, client, server, rst, "third rst", 0)
	minute := int64(time.Minute)
	tcp(r, 10+2*minute, client, server, syn, "fourth syn, forgotten", 0)
	assert.Equal(t, int64(1), r.Stats().Undecided)
	require.NoError(t, r.Close())
	all, _ := back(t, name)
	assert.Equal(t, []string{"new syn", "fin", "fin back", "last ack", "third syn", "third rst"}, texts(all))
}

// TestBoundOfOne: of a connection that says nothing known for long, the handshake stays and the last packets.
func TestBoundOfOne(t *testing.T) {
	r, name := only(t)
	tcp(r, 1, client, server, syn, "syn", 0)
	tcp(r, 2, server, client, synAck, "synack", 0)
	data := strings.Repeat("x", 1000)
	for i := range 1000 {
		tcp(r, int64(3+i), client, server, ack, data, 1000)
	}
	held := r.Stats().Undecided
	assert.Equal(t, int64(2+maxHeldOfOne/(1000+heldHead)), held)
	assert.Equal(t, 1002-held, r.Stats().LeftOut)
	r.Carries(client, server)
	require.NoError(t, r.Close())
	all, _ := back(t, name)
	require.Len(t, all, int(held))
	assert.Equal(t, []int64{1, 2, 1002}, []int64{all[0].Time, all[1].Time, all[len(all)-1].Time})
	assert.Equal(t, all[2].Time+int64(len(all)-3), all[len(all)-1].Time, "without a hole")
}

// TestBoundOfAll: when there is too much, payload goes before handshakes, and what was heard of least lately first.
func TestBoundOfAll(t *testing.T) {
	r, name := only(t)
	ends := func(i int) packet.Endpoint { return endAt(byte(i>>8)+10, uint16(i&255)+1) }
	quietOnes := 1000
	for i := range quietOnes {
		tcp(r, int64(i), ends(i), server, syn, fmt.Sprint("syn ", i), 0)
	}
	data := strings.Repeat("y", 60_000)
	for i := range 3000 {
		tcp(r, int64(10_000+i), ends(i%1000+1000), other, ack, data, len(data))
	}
	mem := &r.conns.mem
	assert.LessOrEqual(t, len(mem.slabs)*slabChunks*512, maxHeld)
	for i := range quietOnes {
		r.Carries(ends(i), server)
	}
	assert.Equal(t, int64(quietOnes), r.Stats().Packets)
	for i := range 1000 {
		r.Carries(ends(i+1000), other)
	}
	require.NoError(t, r.Close())
	all, _ := back(t, name)
	assert.Greater(t, len(all), 1400)
	assert.Zero(t, mem.room(mem.limit+1))
	assert.True(t, mem.room(mem.limit), "all memory is free again")
	assert.Equal(t, int64(4000), r.Stats().Packets+r.Stats().LeftOut)
}

// TestBoundOfConnections: the table has its limit, and connections with messages are the last to go.
func TestBoundOfConnections(t *testing.T) {
	left := int64(0)
	tab := newTable(100, 1<<20, func(n, _ int64) { left += n })
	var first *conn
	for i := range 1000 {
		p, _ := pairOf(endAt(byte(i>>8), uint16(i)), server)
		if i < 10 {
			first = tab.add(&p, rpc)
			continue
		}
		tab.hold(tab.add(&p, quiet), seg(p.a, p.b, syn, 1, 0), held{at: int64(i), wire: 3}, []byte("syn"))
	}
	assert.Len(t, tab.index, 100)
	assert.Equal(t, int64(90), tab.heldPackets)
	assert.Equal(t, int64(990-90), left)
	assert.Equal(t, uint8(rpc), first.list)
	for i := range 200 {
		p, _ := pairOf(endAt(byte(i), 60007), server)
		tab.add(&p, rpc)
	}
	assert.Len(t, tab.index, 100)
	assert.Zero(t, tab.heldPackets)
	tab.expire(keepSilent + 10_000)
	assert.Len(t, tab.index, 100)
	for range 4 {
		tab.expire(keepIdle)
	}
	assert.Empty(t, tab.index)
	assert.Len(t, tab.free, slabConns, "one slab, and all of it is free again")
}

// TestSilent: what nothing is heard of is forgotten.
func TestSilent(t *testing.T) {
	r, _ := only(t)
	tcp(r, 1, client, server, syn, "syn", 0)
	r.Tick(keepSilent)
	assert.Equal(t, int64(1), r.Stats().Undecided)
	r.Tick(keepSilent + 1)
	assert.Zero(t, r.Stats().Undecided)
	assert.Equal(t, int64(1), r.Stats().LeftOut)
	require.NoError(t, r.Close())
}

// TestMarkedBefore: a connection that is known to carry messages before the recording begins is recorded from then on.
func TestMarkedBefore(t *testing.T) {
	r := open(t, Options{OnlyRPC: true})
	tcp(r, 1, client, server, ack, "one", 3)
	r.Carries(client, server)
	tcp(r, 2, client, server, ack, "two", 3)
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, r.Start(name))
	tcp(r, 3, client, server, ack, "three", 5)
	tcp(r, 4, client, other, ack, "other", 5)
	require.NoError(t, r.Close())
	assert.Zero(t, r.Stats().Undecided)
	all, _ := back(t, name)
	assert.Equal(t, []string{"three"}, texts(all))
}

// TestHeldOverRotation: what was held goes to the file that is open when it is known what it is; a set of files read as
// one has each connection in its order.
func TestHeldOverRotation(t *testing.T) {
	dir := t.TempDir()
	r := open(t, Options{File: filepath.Join(dir, "f"), OnlyRPC: true, Every: time.Second, Now: clockAt(0)})
	second := int64(time.Second)
	third := endAt(9, 9)
	r.Carries(third, server)
	tcp(r, 1, client, server, syn, "syn", 0)
	tcp(r, 2, third, server, ack, "t1", 2)
	tcp(r, 2*second, third, server, ack, "t2", 2)
	r.Carries(client, server)
	tcp(r, 2*second+1, client, server, ack, "data", 4)
	tcp(r, 2*second+2, third, server, ack, "t3", 2)
	require.NoError(t, r.Close())
	all, _ := back(t, dir)
	assert.Equal(t, "syn t1 t2 data t3", strings.Join(sortedBy(all), " "))
	last, _ := back(t, filepath.Join(dir, "f1"))
	assert.Equal(t, "t2 syn data t3", strings.Join(texts(last), " "))
}

// sortedBy are the texts of packets in the order of their times.
func sortedBy(all []capture.Packet) []string {
	var out []string
	for at := int64(-1); len(out) < len(all); {
		best := -1
		for i, p := range all {
			if p.Time > at && (best < 0 || p.Time < all[best].Time) {
				best = i
			}
		}
		at = all[best].Time
		out = append(out, string(all[best].Data))
	}
	return out
}
