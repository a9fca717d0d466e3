package traffic

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// class is a class of body sizes.
type class int

const (
	small class = iota
	medium
	large
	text
	nClasses
)

// sizes are the classes' mean sizes in bytes, and how many different bodies of it a method has in each direction.
var sizes = [nClasses]struct{ bytes, bodies int }{{360, 6}, {3_800, 3}, {20_000, 1}, {50_000, 2}}

// pool is the bodies of all methods. They are encoded once and sent again and again; they are the same for all captures.
type pool struct {
	methods []*method
	texts   []*method // those of them that carry a long string
	objects []*method // the others
}

type method struct {
	index               int // in pool.methods
	service, name       string
	requests, responses [nClasses][]body
}

// body is what a call carries in one direction, as the dubbo protocol writes it and in Triple's wrapper.
type body struct{ dubbo, wrapper []byte }

// services are the interfaces; each has the methods of verbs.
var services = []string{
	"com.example.shop.api.UserService", "com.example.shop.api.OrderService", "com.example.shop.api.CatalogService",
	"com.example.shop.api.PaymentService", "com.example.forum.api.PostService", "com.example.forum.api.SearchService",
	"com.example.shop.api.stock.StockService", "com.example.shop.api.DocumentService",
}

var verbs = []string{"find", "list", "update", "createAll", "synchronizeWithPartner"}

// makePool makes all bodies, at the first call.
var makePool = sync.OnceValues(func() (*pool, error) {
	for _, model := range []hessian.POJO{&user{}, &address{}, &post{}, &order{}, &line{}} {
		hessian.RegisterPOJO(model)
	}
	p := &pool{}
	m := maker{rand.New(rand.NewPCG(seed, 1))}
	for i, service := range services {
		for j, verb := range verbs {
			x := &method{index: len(p.methods), service: service, name: verb}
			kind := i + j
			if strings.HasSuffix(service, "DocumentService") && j < 2 {
				x.name = verb + "Text"
				p.texts = append(p.texts, x)
				for range sizes[text].bodies {
					s := m.text(sizes[text].bytes / 6)
					x.requests[text] = append(x.requests[text], request(x, "Ljava/lang/String;", s))
					x.responses[text] = append(x.responses[text], response(s))
				}
			} else {
				p.objects = append(p.objects, x)
				x.fill(m, kind)
			}
			p.methods = append(p.methods, x)
		}
	}
	for _, x := range p.methods {
		for c := range nClasses {
			for _, b := range append(x.requests[c], x.responses[c]...) {
				if b.dubbo == nil || b.wrapper == nil {
					return nil, fmt.Errorf("a body of %s/%s could not be encoded", x.service, x.name)
				}
			}
		}
	}
	return p, nil
})

// fill makes the bodies of a method that takes and returns lists of objects.
func (x *method) fill(m maker, kind int) {
	for c := small; c <= large; c++ {
		for range sizes[c].bodies {
			x.requests[c] = append(x.requests[c], sized(m, kind, 0, c, func(things any) body {
				return request(x, "JLjava/util/List;", m.rng.Int64N(1<<40), things)
			}))
			x.responses[c] = append(x.responses[c], sized(m, kind, 1, c, response))
		}
	}
}

// sized makes a body of a class, at most 30 % off its size, with as many objects as that takes, least at the least.
func sized(m maker, kind, least int, c class, encode func(things any) body) body {
	target := sizes[c].bytes * (70 + m.rng.IntN(61)) / 100
	n := least
	for {
		b := encode(m.things(kind, n))
		size := len(b.dubbo)
		if size >= target-60 || b.dubbo == nil {
			return b
		}
		// Nearly there in one step, then one by one.
		n += max(1, (target-size)/250)
	}
}

// request encodes a request as Dubbo 2.7 and as Dubbo 3.3 do; bodies are nil if that fails.
func request(x *method, descriptor string, args ...any) body {
	e := newEncoder()
	e.encode("2.0.2", x.service, "0.0.0", x.name, descriptor)
	e.encode(args...)
	e.attachments("path", x.service, "remote.application", "shop-web", "interface", x.service, "version", "0.0.0")
	return body{e.body(), wrap(args, parameterTypes[descriptor]...)}
}

// parameterTypes are Triple's names for the descriptors of parameters.
var parameterTypes = map[string][]string{"JLjava/util/List;": {"long", "java.util.List"}, "Ljava/lang/String;": {"java.lang.String"}}

// response encodes a response: a value, and for the dubbo protocol attachments.
func response(value any) body {
	e := newEncoder()
	e.encode(int32(4), value)
	e.attachments("dubbo", "2.0.2")
	declared := "java.util.List"
	if _, ok := value.(string); ok {
		declared = "java.lang.String"
	}
	return body{e.body(), wrap([]any{value}, declared)}
}

// wrap encodes TripleRequestWrapper or TripleResponseWrapper, which have the same fields: each value is a stream of its own.
func wrap(values []any, types ...string) (b []byte) {
	field := func(number byte, value []byte) {
		b = append(b, number<<3|2)
		b = binary.AppendUvarint(b, uint64(len(value)))
		b = append(b, value...)
	}
	field(1, []byte("hessian4"))
	for _, v := range values {
		e := newEncoder()
		e.encode(v)
		data := e.body()
		if data == nil {
			return nil
		}
		field(2, data)
	}
	for _, t := range types {
		field(3, []byte(t))
	}
	return b
}

type encoder struct {
	*hessian.Encoder
	kept []any // what was encoded: the encoder tells objects apart by their address
	err  error
}

func newEncoder() *encoder { return &encoder{Encoder: hessian.NewEncoder()} }

func (e *encoder) encode(values ...any) {
	e.kept = append(e.kept, values...)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			e.err = err
		}
	}
}

// attachments writes a map with these keys and values in this order.
func (e *encoder) attachments(pairs ...string) {
	e.Append([]byte{'H'})
	for _, s := range pairs {
		e.encode(s)
	}
	e.Append([]byte{'Z'})
}

func (e *encoder) body() []byte {
	runtime.KeepAlive(e.kept)
	if e.err != nil {
		return nil
	}
	return e.Buffer()
}
