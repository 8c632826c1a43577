package tape

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
)

// MaxValue is the most bytes of one recorded value.
const MaxValue = 64 << 10

// AppendValue appends what p points to: a bool, a number, a string, a slice of bytes, or an
// array or struct of values of fixed size.
func AppendValue(dst []byte, p any) ([]byte, error) {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return dst, fmt.Errorf("%T is no pointer to a value: pass the address of a variable", p)
	}
	begin := len(dst)
	switch e := v.Elem(); {
	case e.Kind() == reflect.Int:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Int()))
	case e.Kind() == reflect.Uint:
		dst = binary.LittleEndian.AppendUint64(dst, e.Uint())
	case e.Kind() == reflect.String:
		dst = append(dst, e.String()...)
	case e.Kind() == reflect.Slice && e.Type().Elem().Kind() == reflect.Uint8:
		dst = append(dst, e.Bytes()...)
	case e.Kind() == reflect.Slice || binary.Size(p) < 0:
		return dst, fmt.Errorf("%v has no fixed size: use numbers, a string, []byte, or structs and arrays of int32, float64 and the like", e.Type())
	default:
		var err error
		if dst, err = binary.Append(dst, binary.LittleEndian, p); err != nil {
			return dst, err
		}
	}
	if len(dst)-begin > MaxValue {
		return dst[:begin], fmt.Errorf("%v has %d bytes: the most is %d", v.Elem().Type(), len(dst)-begin, MaxValue)
	}
	return dst, nil
}

// SetValue sets what p points to from bytes that AppendValue made of the same type.
func SetValue(p any, b []byte) error {
	e := reflect.ValueOf(p).Elem()
	size := binary.Size(p)
	switch {
	case e.Kind() == reflect.String:
		e.SetString(string(b))
		return nil
	case e.Kind() == reflect.Slice:
		e.SetBytes(bytes.Clone(b))
		return nil
	case e.Kind() == reflect.Int || e.Kind() == reflect.Uint:
		size = 8
	}
	if len(b) != size {
		return fmt.Errorf("the tape has %d bytes where %v has %d", len(b), e.Type(), size)
	}
	switch e.Kind() {
	case reflect.Int:
		e.SetInt(int64(binary.LittleEndian.Uint64(b)))
	case reflect.Uint:
		e.SetUint(binary.LittleEndian.Uint64(b))
	default:
		_, err := binary.Decode(b, binary.LittleEndian, p)
		return err
	}
	return nil
}
