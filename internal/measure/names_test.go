package measure

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/dev/testkit"
)

// Completion reads only the beginning of a long capture, and of its methods those of the services that were chosen.
func TestNamesOfLongCapture(t *testing.T) {
	data := testkit.Get(t, "mixed").Bytes(t)
	long := filepath.Join(t.TempDir(), "long.pcap")
	f, err := os.Create(long)
	require.NoError(t, err)
	_, err = f.Write(data)
	require.NoError(t, err)
	for written := len(data); written < completeBytes+1<<20; written += len(data) {
		_, err = f.Write(data[24:]) // after the header of the file
		require.NoError(t, err)
	}
	_, err = f.Write(testkit.Get(t, "protobuf-2.7.5").Bytes(t)[24:])
	require.NoError(t, err)
	require.NoError(t, f.Close())
	read := func(services ...call.Glob) Names { // without the limit in time
		c := &nameCollector{services: services, sets: make(map[string]map[string]bool)}
		c.read([]string{long})
		return c.names()
	}
	names := read()
	assert.Contains(t, names["method"], "existUser")
	assert.NotContains(t, names["method"], "createUser", "it is beyond what completion reads")
	names = read(call.ParseGlob("no.such.*"))
	assert.Empty(t, names["method"])
	assert.Contains(t, names["service"], "org.apache.dubbo.benchmark.service.UserService")
	names = readNames([]string{"a=" + long}, []string{"no.such.*"}, time.Hour)
	assert.Empty(t, names["method"])
	assert.Contains(t, names["service"], "org.apache.dubbo.benchmark.service.UserService")
}

// Completion does not wait for a reader that is slow: it returns what was found, and the reader stops.
func TestNamesOfSlowReader(t *testing.T) {
	assert.LessOrEqual(t, completeTime, time.Second, "the user waits for it")
	c := &nameCollector{sets: make(map[string]map[string]bool)}
	c.add("com.acme.Orders", "find", "10.0.0.1:4711", "10.0.0.2:20880")
	slow, returned := make(chan struct{}), make(chan Names)
	go func() {
		c.until(time.Millisecond, func() { <-slow })
		returned <- c.names()
	}()
	select {
	case names := <-returned:
		assert.Equal(t, []string{"find"}, names["method"])
	case <-time.After(time.Minute):
		require.Fail(t, "it waits for the reader")
	}
	c.read([]string{testkit.Get(t, "mixed").Path()})
	assert.NotContains(t, c.names()["service"], "org.apache.dubbo.benchmark.service.UserService", "it reads on")
	close(slow)
}
