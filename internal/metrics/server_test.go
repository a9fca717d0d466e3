package metrics

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/pipeline"
)

// TestServer: clients scrape while calls are counted. One that reads nothing, and one that does not finish its request, stop neither the
// capture nor other clients.
func TestServer(t *testing.T) {
	s, err := Listen(Options{Address: "127.0.0.1:0", Series: 50, Version: "1.2.3"})
	require.NoError(t, err)
	defer s.Close()
	_, err = Listen(Options{Address: s.listener.Addr().String()})
	require.ErrorContains(t, err, s.listener.Addr().String()+": ")
	m := s.Serve(noDrops, nothing{})

	done := make(chan struct{})
	var counting, clients sync.WaitGroup
	counting.Go(func() { // as the goroutine of the pipeline does
		for i := 0; ; i++ {
			select {
			case <-done:
				m.End(&pipeline.Totals{})
				return
			default:
			}
			c := fake("S", fmt.Sprint(i%100), 10)
			m.Call(c, true)
			c.Request.Repeated++
			c.Request.Watcher(c.Request)
			if m.asked.Load() {
				m.publish(&pipeline.Totals{}, 0, 0, false)
			}
		}
	})
	for _, text := range []string{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "GET /met"} {
		bad, err := net.Dial("tcp", s.listener.Addr().String())
		require.NoError(t, err)
		defer bad.Close()
		_, err = bad.Write([]byte(text))
		require.NoError(t, err)
	}
	for range 3 {
		clients.Go(func() {
			for range 3 {
				r, err := http.Get(s.URL())
				if !assert.NoError(t, err) {
					return
				}
				text, err := io.ReadAll(r.Body)
				_ = r.Body.Close()
				assert.NoError(t, err)
				assert.Equal(t, http.StatusOK, r.StatusCode)
				assert.Contains(t, string(text), `dubbo_wire_build_info{version="1.2.3"} 1`)
			}
		})
	}
	clients.Wait()
	close(done)
	counting.Wait()
	for path, code := range map[string]int{"/": http.StatusOK, "/debug/pprof": http.StatusNotFound} {
		r, err := http.Get(strings.TrimSuffix(s.URL(), "/metrics") + path)
		require.NoError(t, err)
		_ = r.Body.Close()
		assert.Equal(t, code, r.StatusCode, path)
	}
	r, err := http.Post(s.URL(), "text/plain", nil)
	require.NoError(t, err)
	_ = r.Body.Close()
	assert.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
	s.Close()
	_, err = http.Get(s.URL())
	assert.Error(t, err)
}

func TestCheckAddress(t *testing.T) {
	for _, good := range []string{":9464", "127.0.0.1:9464", "[::1]:9464", "host:0"} {
		assert.NoError(t, CheckAddress(good), good)
	}
	for _, bad := range []string{"", "9464", "host", ":", ":x", ":70000", ":-1", "::1:9464"} {
		assert.Error(t, CheckAddress(bad), bad)
	}
}
