package layout

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// Command is the component that a tick's input fills.
type Command struct {
	Name   string // Name is the name of its Go type.
	ID     ecs.ID
	Size   uintptr
	Schema *schema.Schema
	Handle ecs.Handle
}

// Value returns a command as the game's own type, for a report.
func (c *Command) Value(at unsafe.Pointer) any {
	v := reflect.New(c.Handle.Type())
	CopyBytes(v.UnsafePointer(), at, c.Size)
	return v.Elem().Interface()
}

// New returns a zero command.
func (c *Command) New() unsafe.Pointer { return reflect.New(c.Handle.Type()).UnsafePointer() }

// CopyBytes copies n bytes of a component.
func CopyBytes(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}
