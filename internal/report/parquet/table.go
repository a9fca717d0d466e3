package parquet

import (
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// column is a column of a table whose rows are made from values of type T.
type column[T any] struct {
	name, unit, doc string
	kind            kind
	of              func(*T) value
}

// value is a value of a column; null is none.
type value = parquet.Value

var null = parquet.NullValue()

func integer(n int64) value { return parquet.Int64Value(n) }
func truthOf(b bool) value  { return parquet.BooleanValue(b) }

// stringOf returns a text. Engines refuse files with bytes that are no UTF-8: they become U+FFFD, as in JSON.
func stringOf(s string) value {
	return parquet.ByteArrayValue([]byte(strings.ToValidUTF8(s, "\ufffd")))
}

// positive returns an integer, null if it is negative.
func positive(n int64) value {
	if n < 0 {
		return null
	}
	return integer(n)
}

// optional returns a text, null if it is empty.
func optional(s string) value {
	if s == "" {
		return null
	}
	return stringOf(s)
}

// kind is the type of a column and how it is encoded.
type kind uint8

const (
	text    kind = iota // with a dictionary: most repeat
	number              // with a dictionary: sizes repeat
	count               // in order, so differences are small
	instant             // microseconds since the Unix epoch
	decimal
	boolean
)

// typeNames are the types in the documentation, by kind.
var typeNames = []string{"VARCHAR", "BIGINT", "BIGINT", "TIMESTAMP", "DOUBLE", "BOOLEAN"}

func (k kind) node() parquet.Node {
	var n parquet.Node
	switch k {
	case text:
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case number:
		n = parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary)
	case count:
		n = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	case instant:
		n = parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.DeltaBinaryPacked)
	case decimal:
		n = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)
	default:
		n = parquet.Leaf(parquet.BooleanType)
	}
	return parquet.Optional(n)
}

// ordered is a group of columns in the order of a list; Group alone sorts them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o *ordered) Fields() []parquet.Field { return o.fields }

// Bounds of what a table holds: rows whose values were not given to the columns yet, and rows and bytes of texts of a row group.
const (
	batchRows  = 1 << 8
	groupRows  = 1 << 17
	groupTexts = 32 << 20
)

// table writes rows to columns.
type table[T any] struct {
	columns []column[T]
	w       *parquet.GenericWriter[any]
	batches [][]value // by column
	writers []*parquet.ColumnWriter
	// The rows and the bytes of texts of the row group.
	inGroup, texts int
}

// newTable begins a file with a schema, whose name and version stand in its metadata.
func newTable[T any](w io.Writer, schema string, columns []column[T]) *table[T] {
	group := make(parquet.Group, len(columns))
	for _, c := range columns {
		group[c.name] = c.kind.node()
	}
	byName := make(map[string]parquet.Field, len(columns))
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	o := &ordered{Group: group}
	for _, c := range columns {
		o.fields = append(o.fields, byName[c.name])
	}
	t := &table[T]{columns: columns, batches: make([][]value, len(columns))}
	t.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("row", o), parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.KeyValueMetadata("schema", schema),
		parquet.CreatedBy("dubbo-wire", "", ""))
	t.writers = t.w.ColumnWriters()
	return t
}

// add adds a row.
func (t *table[T]) add(row *T) error {
	for i := range t.columns {
		v := t.columns[i].of(row)
		level := 1
		if v.IsNull() {
			level = 0
		}
		t.batches[i] = append(t.batches[i], v.Level(0, level, i))
		if t.columns[i].kind == text && level == 1 {
			t.texts += len(v.ByteArray())
		}
	}
	if len(t.batches[0]) < batchRows && t.texts < groupTexts {
		return nil
	}
	return t.flush()
}

// flush gives the rows to the columns, and ends a full row group.
func (t *table[T]) flush() error {
	n := len(t.batches[0])
	for i, batch := range t.batches {
		if _, err := t.writers[i].WriteRowValues(batch); err != nil {
			return err
		}
		clear(batch)
		t.batches[i] = batch[:0]
	}
	if t.inGroup += n; t.inGroup < groupRows && t.texts < groupTexts {
		return nil
	}
	t.inGroup, t.texts = 0, 0
	return t.w.Flush()
}

// Close ends the file.
func (t *table[T]) Close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.w.Close()
}
