package classpath

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/protofile"
	"dubbo-wire/internal/decode/protoschema"
)

// protos are the schemas of protocol buffers messages.
type protos struct {
	// given are those of .proto files and descriptor sets, nil without any.
	given *protoschema.Set
}

// readProtos reads the .proto files and descriptor sets.
func (p *Path) readProtos(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	files, err := protofile.Read(paths)
	if err != nil {
		return fmt.Errorf("--proto %w", err)
	}
	p.given = protoschema.NewSet()
	for _, f := range files {
		if err := p.given.Add(f); err != nil {
			return fmt.Errorf("--proto %s: %w", f.GetName(), err)
		}
	}
	return nil
}

// Message returns the schema of a message by its full name, as a side has it; nil if it is not known.
func (p *Path) Message(s decode.Side, name string) *protoschema.Message {
	if p == nil {
		return nil
	}
	return p.given.Message(name)
}

// ClassMessage returns the schema of the message of a class, as a side has it; nil if it is not known.
func (p *Path) ClassMessage(s decode.Side, class string) *protoschema.Message {
	if p == nil {
		return nil
	}
	return p.given.Class(class)
}

// MethodMessage returns the schema of the messages that a side sends in calls of a method: those that it takes, or those that it returns;
// nil if it is not known. The service may have more in front of it than its name: a context path.
func (p *Path) MethodMessage(s decode.Side, service, method string) *protoschema.Message {
	if p == nil {
		return nil
	}
	service = service[strings.LastIndexByte(service, '/')+1:]
	in, out := p.given.Method(service, method)
	if s == decode.Consumer {
		return in
	}
	return out
}

// Protos returns the number of messages whose schema was given.
func (p *Path) Protos() int {
	if p == nil || p.given == nil {
		return 0
	}
	return p.given.Len()
}
