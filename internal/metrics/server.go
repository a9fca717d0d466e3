package metrics

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"dubbo-wire/internal/pipeline"
)

// Options say where metrics are served, and where they are pushed to. At least one of them is given.
type Options struct {
	Address  string // HOST:PORT; without a host on all interfaces
	Receiver string // a ReceiverURL of OTLP
	Series   int    // groups of calls with series of their own; 0 for DefaultSeries
	Version  string // of the program
	Host     string // name of the machine, for the receiver; "" if it is not known
}

// Bounds of what clients can use.
const (
	maxClients  = 32 // connections
	maxScrapes  = 4  // requests at the same time
	maxHead     = 16 << 10
	headTime    = 5 * time.Second
	requestTime = 10 * time.Second
	answerTime  = 15 * time.Second
	idleTime    = time.Minute
)

// Server serves the metrics of one run, pushes them, or both.
type Server struct {
	Options
	listener net.Listener // nil if nothing is served
	http     *http.Server
	pusher   *pusher // nil if nothing is pushed
}

// Listen opens the port of an address that CheckAddress accepts. A port below 1024 may need a privilege.
func Listen(o Options) (*Server, error) {
	if o.Address == "" {
		return &Server{Options: o}, nil
	}
	l, err := net.Listen("tcp", o.Address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: another program listens there; choose another port", o.Address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: only root may listen there; choose a port above 1023", o.Address)
	case err != nil:
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("%s: %w", o.Address, err)
	}
	return &Server{Options: o, listener: netutil.LimitListener(l, maxClients)}, nil
}

// CheckAddress returns an error if an address is not HOST:PORT.
func CheckAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q: must be HOST:PORT or :PORT; try :9464", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q: the port must be a number from 0 to 65535 (0: any free one)", address)
	}
	return nil
}

// URL returns where metrics are served, "" if they are not.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	return "http://" + s.listener.Addr().String() + "/metrics"
}

// Serve begins to serve and to push what the meter counts that it returns, which is a sink in front of next.
func (s *Server) Serve(probe Probe, next pipeline.Sink) *Meter {
	limit := s.Series
	if limit <= 0 {
		limit = DefaultSeries
	}
	m := newMeter(limit, probe, next)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{m, s.Version}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.listener != nil {
		s.http = &http.Server{
			Handler: handler(registry, s.Version), ReadHeaderTimeout: headTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
			MaxHeaderBytes: maxHead, ErrorLog: log.New(io.Discard, "", 0),
		}
		go func() { _ = s.http.Serve(s.listener) }() // it ends with Close
	}
	if s.Receiver != "" {
		s.pusher = newPusher(&s.Options, registry)
		s.pusher.start()
	}
	return m
}

// Close ends all connections, after a last push.
func (s *Server) Close() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.http != nil {
		_ = s.http.Close()
	}
	if s.pusher != nil {
		s.pusher.end()
	}
}

// Notice returns once why the last push failed, else "".
func (s *Server) Notice() string {
	if s.pusher == nil {
		return ""
	}
	text := s.pusher.notice.Swap(nil)
	if text == nil {
		return ""
	}
	return *text
}

// handler answers /metrics, and / with a hint.
func handler(registry *prometheus.Registry, version string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, CoalesceGather: true}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "dubbo-wire "+version+": metrics are at /metrics\n")
	})
	return mux
}
