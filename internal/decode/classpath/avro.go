package classpath

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"dubbo-wire/internal/decode/avroschema"
)

// readSchemas reads files with schemas of Avro.
func (p *Path) readSchemas(files []string) error {
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			if path, ok := errors.AsType[*os.PathError](err); ok {
				err = path.Err
			}
			return fmt.Errorf("--avro-schema %s: %w", name, err)
		}
		_, named, err := avroschema.Parse(text)
		if err != nil {
			return fmt.Errorf("--avro-schema %s: %w", name, err)
		}
		if len(named) == 0 {
			return fmt.Errorf("--avro-schema %s: it declares neither a record, an enum nor a fixed", name)
		}
		if p.avro == nil {
			p.avro = map[string]*avroschema.Schema{}
		}
		for _, s := range named {
			if p.avro[s.ClassName()] == nil { // the first one wins, as in a class path
				p.avro[s.ClassName()] = s
			}
		}
	}
	return nil
}

// AvroSchema returns the schema that the user brought for a class, nil if there is none. The names of schemas have no $ since Avro 1.9.
func (p *Path) AvroSchema(class string) *avroschema.Schema {
	if s := p.avro[class]; s != nil || len(p.avro) == 0 {
		return s
	}
	return p.avro[strings.ReplaceAll(class, "$", ".")]
}

// HasAvroSchemas reports whether schemas of Avro were given.
func (p *Path) HasAvroSchemas() bool { return p != nil && p.avro != nil }

// AvroSchemas returns the number of classes that schemas of Avro name.
func (p *Path) AvroSchemas() int { return len(p.avro) }
