package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// serviceName is the service that grpc-java has, too: a text says what shall happen ("big 5000").
const serviceName = "rig.Verbs"

type server struct{ log *truthLog }

func str(s string) *wrapperspb.StringValue { return wrapperspb.String(s) }

func (s *server) service() *grpc.ServiceDesc {
	stream := func(f func(grpc.ServerStream) error) grpc.StreamHandler {
		return func(_ any, ss grpc.ServerStream) error { return f(ss) }
	}
	return &grpc.ServiceDesc{
		ServiceName: serviceName, HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{
			{StreamName: "Unary", Handler: stream(unary)}, // the same on the wire
			{StreamName: "Countdown", Handler: stream(countdown), ServerStreams: true},
			{StreamName: "Collect", Handler: stream(collect), ClientStreams: true},
			{StreamName: "Chat", Handler: stream(chat), ServerStreams: true, ClientStreams: true},
		},
	}
}

func serve(log *truthLog, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := &server{log}
	g := grpc.NewServer(grpc.MaxHeaderListSize(1<<17), grpc.InitialWindowSize(65535), grpc.InitialConnWindowSize(65535),
		grpc.StreamInterceptor(func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			md, _ := metadata.FromIncomingContext(ss.Context())
			c := log.call(address, info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:], md)
			err := handler(srv, loggedServer{ss, c})
			if e := ss.Context().Err(); e != nil {
				c.end(status.FromContextError(e).Err())
			}
			c.end(err)
			return err
		}))
	g.RegisterService(s.service(), nil)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		time.AfterFunc(time.Second, g.Stop)
		g.GracefulStop()
	}()
	fmt.Println("READY grpc-go", grpc.Version)
	return g.Serve(tapListener{l, log})
}

type tapListener struct {
	net.Listener
	log *truthLog
}

func (l tapListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.log.tap(c, true), nil
}

type loggedServer struct {
	grpc.ServerStream
	call *call
}

func (s loggedServer) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.call.request(m)
	}
	return err
}

func (s loggedServer) SendMsg(m any) error {
	s.call.response(m)
	return s.ServerStream.SendMsg(m)
}

func receive(ss grpc.ServerStream) (string, error) {
	m := new(wrapperspb.StringValue)
	err := ss.RecvMsg(m)
	return m.GetValue(), err
}

// wishes answers as the header x-want says.
func wishes(ss grpc.ServerStream) error {
	md, _ := metadata.FromIncomingContext(ss.Context())
	want := md.Get("x-want")
	switch {
	case len(want) == 0:
		return nil
	case want[0] == "gzip":
		return grpc.SetSendCompressor(ss.Context(), "gzip")
	}
	n, err := strconv.Atoi(strings.TrimPrefix(want[0], "headers "))
	if err != nil {
		return err
	}
	ss.SetTrailer(metadata.Pairs("x-answer", text(n, 3)))
	return ss.SetHeader(metadata.Pairs("x-answer", text(n, 3), "x-answer-bin", "\x00\x01\x02\xff"))
}

func unary(ss grpc.ServerStream) error {
	request, err := receive(ss)
	if err != nil {
		return err
	}
	if err := wishes(ss); err != nil {
		return err
	}
	verb, rest, _ := strings.Cut(request, " ")
	n, _ := strconv.Atoi(rest)
	switch verb {
	case "echo":
		return ss.SendMsg(str(rest))
	case "big":
		return ss.SendMsg(str(text(n, 5)))
	case "sleep":
		select {
		case <-time.After(time.Duration(n) * time.Millisecond):
		case <-ss.Context().Done():
			return status.FromContextError(ss.Context().Err()).Err()
		}
		return ss.SendMsg(str("slept"))
	case "fail":
		return status.Error(codes.Code(n), "refused: 库存 100 %")
	case "details":
		s, err := status.New(codes.FailedPrecondition, "with details").WithDetails(str("the detail"))
		if err != nil {
			return err
		}
		return s.Err()
	}
	return errors.New(verb)
}

func countdown(ss grpc.ServerStream) error {
	request, err := receive(ss)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(request)
	for i := n; i > 0; i-- {
		if err := ss.SendMsg(str(fmt.Sprint("answer ", i))); err != nil {
			return err
		}
	}
	return nil
}

func collect(ss grpc.ServerStream) error {
	for count := 0; ; count++ {
		switch _, err := receive(ss); err {
		case nil:
		case io.EOF:
			return ss.SendMsg(str(fmt.Sprint(count, " messages")))
		default:
			return err
		}
	}
}

func chat(ss grpc.ServerStream) error {
	for {
		m, err := receive(ss)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ss.SendMsg(str(m))
		}
		if err != nil {
			return err
		}
	}
}
