package pipeline

import (
	"fmt"
	"reflect"
)

// These sums of bytes hold for every run:
//
//	link     = packets without TCP + fragments left over + headers + padding + segments
//	segments = stream + retransmitted + duplicate + beyond the snap length + stray
//	stream   = frames + other protocols + skipped
//	messages ≤ link bytes that were given to streams
//
// Each term is counted on its own, none as the difference of others.

// Balance returns an error with the first sum that does not hold. That is a bug of this program, and the numbers must
// not be printed.
func (t *Totals) Balance() error {
	if err := t.TCP.Balance(); err != nil {
		return fmt.Errorf("%w; this is a bug in dubbo-wire, and no number of this run can be trusted", err)
	}
	given := t.TCP.Stream + t.TCP.Repeated + t.TCP.BeyondSnap + t.TCP.Overhead // link bytes given to streams
	for _, b := range []struct {
		name       string
		whole, sum int64
	}{
		{"link bytes", t.LinkBytes, t.NotTCPBytes + t.FragmentBytes + t.TCP.Link},
		{"link bytes of TCP packets", t.TCP.Link, t.SegmentHeaders + t.SegmentPadding + t.TCP.Payload},
		{"stream bytes", t.TCP.Stream, t.FrameBytes + t.OtherBytes() + t.Skipped},
		{"link bytes of messages", t.RPCBytes, min(t.RPCBytes, given)},
	} {
		if b.whole != b.sum {
			return fmt.Errorf("the totals do not balance: %d %s, but %d in their parts; this is a bug in dubbo-wire, and no number of this run can be trusted",
				b.whole, b.name, b.sum)
		}
	}
	return nil
}

// add adds the totals of another part of the run.
func (t *Totals) add(o *Totals) { addValues(reflect.ValueOf(t).Elem(), reflect.ValueOf(o).Elem()) }

func addValues(to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Int64:
		to.SetInt(to.Int() + from.Int())
	case reflect.Bool:
		to.SetBool(to.Bool() || from.Bool())
	case reflect.Struct:
		for i := range to.NumField() {
			addValues(to.Field(i), from.Field(i))
		}
	case reflect.Pointer:
		addValues(to.Elem(), from.Elem())
	case reflect.Map:
		for iter := from.MapRange(); iter.Next(); {
			if to.IsNil() {
				to.Set(reflect.MakeMap(to.Type()))
			}
			sum := reflect.New(to.Type().Elem()).Elem()
			if sum.Kind() == reflect.Pointer {
				sum.Set(reflect.New(sum.Type().Elem()))
			}
			if v := to.MapIndex(iter.Key()); v.IsValid() {
				addValues(sum, v)
			}
			addValues(sum, iter.Value())
			to.SetMapIndex(iter.Key(), sum)
		}
	default:
		panic("totals: a field of kind " + to.Kind().String())
	}
}
