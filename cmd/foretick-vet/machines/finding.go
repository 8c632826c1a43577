package machines

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"
)

// finding is a place whose result may differ.
type finding struct {
	Kind  string // see the package comment
	What  string // what is wrong: the rest of a sentence that begins with the function
	Where string // file and line
	// Module is the path of the module of the finding's code.
	Module string
	// Through is the number of the parameter through which the state is written, from 1, a
	// receiver being the first. 0 means that the state is reached without a parameter. It is
	// only set for the kind state.
	Through int
	// Global is set if the written state is a package variable. It is only set for the kind
	// state.
	Global bool

	field string // key of the written field, from fieldKey; only for the kind state
	built bool   // the code is in, or called by, the function passed to Server.NextLevel

	at, end token.Pos // only set for code of the package that is checked
	fixes   []analysis.SuggestedFix
}

// findings are the findings in a function and in the functions that it calls.
type findings struct{ List []finding }

func (*findings) AFact()           {}
func (f *findings) String() string { return fmt.Sprintf("%d findings", len(f.List)) }

// mostFindings is how many findings of a function are exported to other packages.
const mostFindings = 6

// registrar is a function that passes some of its parameters on to the library. Params has the
// parameters' indices, from 0, and what they are registered as.
type registrar struct{ Params map[int]string }

func (*registrar) AFact()           {}
func (r *registrar) String() string { return fmt.Sprintf("registers %v", r.Params) }
