package schema_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/stretchr/testify/require"
)

// A type's faults come all at once, each with its field and its fix.
func TestCompileNamesEveryFault(t *testing.T) {
	type inner struct {
		A float32 `net:"step=0.1"`
		B map[int]int
		C int8 `net:"max=3"`
	}
	type several struct {
		X, Y   float32 `net:"min=0,maks=3,step=-1"`
		Good   int32   `net:"max=5"`
		In     inner
		hidden int
		Wrong  int      `net:"-,maks=2"`
		Skip   chan int `net:"-"`
		Last   bool     `net:"lerp"`
	}
	_ = several{}.hidden
	type elements struct {
		Few  [4]inner
		None []inner
		Some []inner `net:"max=3"`
		Held []struct {
			Next, Prev *int `net:"-"`
			Items      []uint8
			N          uint8 `net:"max=256"`
		} `net:"max=2"`
		Bad []float32 `net:"max=2;step=x,lerp,snap"`
		V   struct {
			A float32
			B float32 `net:"max=1"`
			C float32 `net:"step=1"`
		} `net:"vec,min=-1,max=1,step=0.5"`
		W [3]string `net:"vec"`
	}
	type told struct {
		To   int16     `net:"to=nobody"`
		Ref  entityRef `net:"max=3,lerp"`
		X    float32   `net:"hermite=VX"`
		Y    float32   `net:"hermite=VY"`
		VY   float32   `net:"max=1"`
		Z    float32   `net:"hermite=Good"`
		Good bool
	}
	type big struct {
		Name string
		A    [3000]int32
		B    [3000]int32
		D    [3000]int32
		More [3]inner
		C    complex64
	}
	type wide struct {
		A    [2048]uint64
		B, C int32
		Bad  func()
	}
	for _, c := range []struct {
		v    any
		want []string // "field: problem" without the fix
	}{
		{several{}, []string{
			`X: unknown item "maks"`, "X: step must be positive", `Y: unknown item "maks"`, "Y: step must be positive",
			"In.A: step needs a range", "In.B: a map cannot be sent", "hidden: is not exported",
			`Wrong: unknown item "maks"`, "Last: a bool has nothing to interpolate",
		}},
		{elements{}, []string{
			"Few[0].A: step needs a range", "Few[0].B: a map cannot be sent",
			"None: has no max", "None[0].A: step needs a range", "None[0].B: a map cannot be sent",
			"Some[0].B: is a pointer or slice inside of a slice", "Some[0].A: step needs a range",
			"Held[0].Next: is a pointer or slice inside of a slice", "Held[0].Prev: is a pointer or slice inside of a slice",
			"Held[0].Items: is a pointer or slice inside of a slice", "Held[0].N: min=0 and max=256 are no range of uint8",
			`Bad: step="x" is not a number`, "Bad: lerp and snap exclude each other",
			"V.B: is part of a vector", "V.C: is part of a vector", "W[0]: has no max",
		}},
		{told{}, []string{
			`To: there is no Audience "nobody"`, "Ref: a reference has no range", "Ref: a uint64 has nothing to interpolate",
			"VY: a range needs a step", "X: hermite names VX, which is no number that is sent", "Z: hermite names Good, which is no velocity",
		}},
		{big{}, []string{"Name: has no max", "B: the array is too long", "More[0].A: step needs a range", "More[0].B: a map cannot be sent", "C: a complex64 cannot be sent"}},
		{wide{}, []string{"Bad: a func cannot be sent", ": has 4098 words"}},
	} {
		_, err := schema.Compile(reflect.TypeOf(c.v), schema.Options{Ref: reflect.TypeFor[entityRef]()})
		all, ok := err.(interface{ Unwrap() []error })
		require.True(t, ok, "%T: %v", c.v, err)
		var got []string
		for _, err := range all.Unwrap() {
			var te *schema.TagError
			require.True(t, errors.As(err, &te))
			require.Equal(t, reflect.TypeOf(c.v).Name(), te.Type)
			require.NotEmpty(t, te.Fix)
			require.Contains(t, err.Error(), te.Type)
			got = append(got, te.Field+": "+te.Problem)
		}
		require.Equal(t, c.want, got, "%T", c.v)
	}
}

// One fault is a TagError itself; so it is with pointers that Copier meets.
func TestCopierNamesEveryPointer(t *testing.T) {
	type one struct {
		X    int8
		Name *string `net:"-"`
	}
	type several struct {
		X  int8
		In struct {
			M map[int]int `net:"-"`
		}
		Bag [2]struct{ A, B *int } `net:"-"`
	}
	for _, c := range []struct {
		v    any
		want []string
	}{{one{}, []string{"Name"}}, {several{}, []string{"In.M", "Bag[0].A", "Bag[0].B"}}} {
		s, err := schema.Compile(reflect.TypeOf(c.v), schema.Options{})
		require.NoError(t, err)
		_, err = s.Copier()
		errs := []error{err}
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			errs = all.Unwrap()
		}
		var got []string
		for _, err := range errs {
			var te *schema.TagError
			require.True(t, errors.As(err, &te))
			got = append(got, te.Field)
		}
		require.Equal(t, c.want, got)
	}
}
