package machines

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// inexact has the functions of package math whose last bits differ between architectures, with
// the functions to use instead. Some have their own assembly on some architectures, all others
// have sums of products.
var inexact = map[string]string{
	"Acos": "mathf.Acos", "Asin": "mathf.Asin", "Atan": "mathf.Atan", "Atan2": "mathf.Atan2",
	"Cos": "mathf.Cos", "Exp": "mathf.Exp", "Hypot": "mathf.Hypot", "Log": "mathf.Log",
	"Pow": "mathf.Pow", "Sin": "mathf.Sin", "Sincos": "mathf.Sincos", "Tan": "mathf.Tan",
	"Acosh": "", "Asinh": "", "Atanh": "", "Cbrt": "mathf.Pow", "Cosh": "", "Erf": "", "Erfc": "", "Erfcinv": "",
	"Erfinv": "", "Exp2": "mathf.Pow", "Expm1": "", "Gamma": "", "J0": "", "J1": "", "Jn": "", "Lgamma": "",
	"Log10": "mathf.Log", "Log1p": "mathf.Log", "Log2": "mathf.Log", "Sinh": "", "Tanh": "", "Y0": "", "Y1": "", "Yn": "",
}

// clocks are the functions of package time that read or wait for the clock.
var clocks = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true,
	"Tick": true, "NewTicker": true, "NewTimer": true,
}

// outside reports calls of functions of the standard library whose results differ between machines
// or runs.
func (r *reader) outside(fn *types.Func, n ast.Node) {
	name := fn.Name()
	switch path := fn.Pkg().Path(); path {
	case "math":
		use, ok := inexact[name]
		switch {
		case !ok:
		case use != "":
			f := r.find("math", "math."+name+" has other last bits on other architectures; use "+use, n)
			f.fixes = r.useMathf(fn, n)
		default:
			r.find("math", "math."+name+" has other last bits on other architectures; use a table, or a formula of +, *, / and mathf with rounded products", n)
		}
	case "math/cmplx":
		r.find("math", "cmplx."+name+" has other last bits on other architectures; compute with the parts", n)
	case "time":
		if clocks[name] && fn.Signature().Recv() == nil {
			r.find("clock", "time."+name+" depends on the machine; use Frame.Tick and Frame.DT", n)
		}
	case "math/rand", "math/rand/v2", "crypto/rand", "hash/maphash":
		r.find("random", path+"."+name+" gives other numbers on each end; use Frame.Rand", n)
	case "os", "os/exec", "net", "runtime", "runtime/debug":
		if recv := fn.Signature().Recv(); recv != nil {
			if n := namedOf(recv.Type()); n != nil {
				name = n.Obj().Name() + "." + name
			}
		}
		if path != "runtime" || name != "KeepAlive" {
			r.find("outside", path+"."+name+" depends on the machine; read it when the game starts, and send what matters", n)
		}
	case "sync", "sync/atomic":
		if path == "sync/atomic" || name == "Get" || name == "Put" || name == "Wait" || name == "Go" || name == "Range" {
			r.find("concurrent", path+"."+name+" shares memory with what runs at the same time", n)
		}
	case "maps":
		if name == "Keys" || name == "Values" || name == "All" {
			r.find("order", "maps."+name+" has another order each time; wrap it in slices.Sorted", n)
		}
	case "reflect":
		if name == "MapKeys" || name == "MapRange" {
			r.find("order", "reflect's "+name+" has another order each time", n)
		} else if name == "Pointer" || name == "UnsafePointer" || name == "UnsafeAddr" {
			r.find("pointer", "reflect's "+name+" is another address on each machine", n)
		}
	case "unique":
		r.find("pointer", "unique."+name+" makes pointers, whose order is another one each time", n)
	}
}

// formatsPointer reports the verb %p in a call of package fmt.
func (r *reader) formatsPointer(fn *types.Func, call *ast.CallExpr) {
	if fn.Pkg().Path() != "fmt" {
		return
	}
	for _, a := range call.Args {
		if v := r.info.Types[a].Value; v != nil && v.Kind() == constant.String && strings.Contains(constant.StringVal(v), "%p") {
			r.find("pointer", "prints an address, which is another one on each machine", call)
		}
	}
}
