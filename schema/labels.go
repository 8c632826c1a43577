package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Label is how tools, logs and documents show a field. The struct tags besides net set
// it: name:"ground speed", unit:"m/s", enum:"standing,walking,dead".
//
// A unit or enum tag of a struct, array or slice also applies to the fields and elements in it
// without one. Labels change nothing that is sent of a field. Names and units are in no hash.
// Both ends must number the values of fields that are sent alike: see Protocol.Values.
type Label struct {
	Name   string   // the name to show with the field's own; empty: none
	Unit   string   // the unit of the field's values, such as "m/s"; empty: none
	Values []string // the names of an integer's values from 0; nil: none
}

// Labels are the labels of a game, by the name of the type and the field's path without
// indices, such as "Bag.Items.Count". Fields without a label are left out.
type Labels map[string]Label

// Bounds of labels, in bytes and numbers.
const (
	MaxLabel  = 64   // the longest text, in bytes
	maxLabels = 4096 // labels of a game
	maxValues = 256  // values of a field
	maxPath   = 256
)

const labelsVersion = 1

// Add adds the labels of a struct type under a name. The error is a [*TagError], or several
// joined, and names each tag that is wrong.
func (l Labels) Add(name string, t reflect.Type) error {
	var errs []error
	l.walk(name, name, t, Label{}, &errs)
	if len(l) > maxLabels {
		errs = append(errs, fmt.Errorf("schema: type %s brings the labels to %d: at most %d fields of a game have one", name, len(l), maxLabels))
	}
	return errors.Join(errs...)
}

func (l Labels) walk(of, path string, t reflect.Type, from Label, errs *[]error) {
	for t.Kind() == reflect.Array || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		if from.Name != "" || from.Unit != "" || from.Values != nil {
			l[path] = from
		}
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		is, err := labelOf(f.Tag)
		if err != nil {
			err.Type, err.Field = of, strings.TrimPrefix(path+"."+f.Name, of+".")
			*errs = append(*errs, err)
			continue
		}
		if is.Unit == "" {
			is.Unit = from.Unit
		}
		if is.Values == nil {
			is.Values = from.Values
		}
		l.walk(of, path+"."+f.Name, f.Type, is, errs)
	}
}

// labelOf reads a field's tags.
func labelOf(tag reflect.StructTag) (l Label, err *TagError) {
	l.Name, l.Unit = tag.Get("name"), tag.Get("unit")
	if values := tag.Get("enum"); values != "" {
		l.Values = strings.Split(values, ",")
	}
	for _, text := range append([]string{l.Name, l.Unit}, l.Values...) {
		if len(text) > MaxLabel || !printable(text) {
			return l, &TagError{Problem: fmt.Sprintf("label %q", text), Fix: fmt.Sprintf("use up to %d bytes of printable text in name, unit and each value of enum", MaxLabel)}
		}
	}
	if len(l.Values) > maxValues {
		return l, &TagError{Problem: fmt.Sprintf("enum with %d values", len(l.Values)), Fix: fmt.Sprintf("name up to %d", maxValues)}
	}
	return l, nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) })
}

// Of returns the label of a field, by the name of its type and its path: "Bag" and
// "Items[2].Count". It is zero for a field without one.
func (l Labels) Of(name, field string) Label {
	var path strings.Builder
	path.WriteString(name + ".")
	for part := range strings.SplitSeq(field, "[") {
		if i := strings.IndexByte(part, ']'); i >= 0 {
			part = part[i+1:]
		}
		path.WriteString(part)
	}
	return l[path.String()]
}

// Text shows a value of the field: an integer by its name, anything else as fmt does, with
// its unit.
func (l Label) Text(value any) string {
	text := fmt.Sprint(value)
	switch v := reflect.ValueOf(value); {
	case v.CanInt() && v.Int() >= 0 && v.Int() < int64(len(l.Values)):
		text = l.Values[v.Int()]
	case v.CanUint() && v.Uint() < uint64(len(l.Values)):
		text = l.Values[v.Uint()]
	case v.CanFloat():
		text = fmt.Sprintf("%.10g", v.Float())
		if at := int(v.Float()); float64(at) == v.Float() && at >= 0 && at < len(l.Values) {
			text = l.Values[at]
		}
	}
	if l.Unit != "" {
		text += " " + l.Unit
	}
	return text
}

// Append appends the labels as bytes, in the form of docs/STANDARD.md.
func (l Labels) Append(dst []byte) []byte {
	text := func(t string) { dst = append(binary.AppendUvarint(dst, uint64(len(t))), t...) }
	dst = binary.AppendUvarint(append(dst, labelsVersion), uint64(len(l)))
	for _, path := range slices.Sorted(maps.Keys(l)) {
		of := l[path]
		text(path)
		text(of.Name)
		text(of.Unit)
		dst = binary.AppendUvarint(dst, uint64(len(of.Values)))
		for _, v := range of.Values {
			text(v)
		}
	}
	return dst
}

// ReadLabels reads the output of [Labels.Append]. It checks every length and number in b
// before using it. The error wraps [ErrMalformed] and has the cause.
func ReadLabels(b []byte) (Labels, error) {
	r := protocolReader{b: b}
	if v := r.byte(labelsVersion); v != labelsVersion {
		r.failWith(fmt.Errorf("version %d: this is version %d", v, labelsVersion))
	}
	l, before := Labels{}, ""
	text := func(most int) string {
		t := string(r.takeBytes(r.readCount(most)))
		if !printable(t) {
			r.failWith(errors.New("text"))
		}
		return t
	}
	for range r.readCount(maxLabels) {
		path := text(maxPath)
		if path <= before {
			r.failWith(errors.New("order"))
		}
		of := Label{Name: text(MaxLabel), Unit: text(MaxLabel)}
		for range r.readCount(maxValues) {
			if of.Values = append(of.Values, text(MaxLabel)); r.err != nil {
				break
			}
		}
		if of.Name == "" && of.Unit == "" && of.Values == nil {
			r.failWith(errors.New("an empty label"))
		}
		if r.err != nil {
			break
		}
		l[path], before = of, path
	}
	if r.err == nil && len(r.b) > 0 {
		r.failWith(errors.New("length"))
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, r.err)
	}
	return l, nil
}
