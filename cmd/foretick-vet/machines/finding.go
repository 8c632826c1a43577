package machines

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"
)

// finding is a place whose result may differ.
type finding struct {
	Kind  string // see the package comment
	What  string // the rest of a sentence that begins with where it is
	Where string // file and line
	// Module is the path of the module that holds it.
	Module string
	// Through is the parameter that leads to the written state, from 1, a receiver being
	// the first; 0 for state that is reached without one. Only kind state has it.
	Through int
	// Global says that the written state is a package variable. Only kind state has it.
	Global bool

	field string // the field that is written, by fieldKey; only kind state has it
	built bool   // the function given to Server.NextLevel writes it

	at, end token.Pos // in the package that is looked at; none in others
	fixes   []analysis.SuggestedFix
}

// findings are what a call of a function reaches, its callees included.
type findings struct{ List []finding }

func (*findings) AFact()           {}
func (f *findings) String() string { return fmt.Sprintf("%d findings", len(f.List)) }

// mostFindings is how many findings a function tells to other packages.
const mostFindings = 6

// registrar is a function that gives its parameters to roots: parameter, from 0, to what
// they become.
type registrar struct{ Params map[int]string }

func (*registrar) AFact()           {}
func (r *registrar) String() string { return fmt.Sprintf("registers %v", r.Params) }
