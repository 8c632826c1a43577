package fieldtest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/fieldtest"
)

type knobs struct {
	Peers  int
	Linger time.Duration
	Limit  float32
	Seed   uint64
}

// check is how a config should be checked.
func (k knobs) check() error {
	switch {
	case k.Peers < 0 || k.Peers > 64:
		return fmt.Errorf("knobs.Peers is %d: use 1 to 64, or 0 for 8", k.Peers)
	case k.Linger > time.Minute:
		return fmt.Errorf("knobs.Linger is %v: use up to 1m, 0 for 1s, or less for none", k.Linger)
	case !(k.Limit >= 0 && k.Limit < 1000):
		return fmt.Errorf("knobs.Limit is %g: use up to 1000, or 0 for 1", k.Limit)
	}
	return nil
}

func TestConfigSeesWhatIsNotChecked(t *testing.T) {
	rules := fieldtest.Rules{Off: []string{"Linger"}, Any: []string{"Seed"}}
	for _, c := range []struct {
		name  string
		rules fieldtest.Rules
		use   func(k knobs) error
		want  string
	}{
		{"sound", rules, knobs.check, ""},
		{"nothing checked", rules, func(knobs) error { return nil }, "knobs.Peers of -1: taken without an error"},
		{"a limit that may be infinite", rules, func(k knobs) error {
			if k.Limit > 1000 {
				return nil
			}
			return k.check()
		}, "knobs.Limit of +Inf: taken without an error"},
		{"a default that is refused", rules, func(k knobs) error {
			if k.Peers == 0 {
				return errors.New("knobs.Peers is 0: use more")
			}
			return k.check()
		}, `knobs.Peers of 0: refused with "knobs.Peers is 0: use more"`},
		{"off refused", fieldtest.Rules{Off: []string{"Linger", "Peers"}, Any: []string{"Seed"}}, knobs.check, "knobs.Peers of -1: refused"},
		{"off taken", fieldtest.Rules{Any: []string{"Seed"}}, knobs.check, "knobs.Linger of -1ns: taken"},
		{"an error without the name", rules, func(k knobs) error {
			if k.check() != nil {
				return errors.New("use another number")
			}
			return nil
		}, "does not name the field"},
		{"an error without the fix", rules, func(k knobs) error {
			if k.check() != nil {
				return errors.New("Peers, Linger and Limit are wrong")
			}
			return nil
		}, "does not say what to do"},
		{"a panic", rules, func(k knobs) error {
			_ = make([]byte, 8)[k.Peers]
			return k.check()
		}, "knobs.Peers of -1: panic: runtime error"},
		{"a panic of the package's own", rules, func(k knobs) error {
			if err := k.check(); err != nil {
				panic(err)
			}
			return nil
		}, ""},
		{"a field that is gone", fieldtest.Rules{Off: []string{"Linger", "Pause"}, Any: []string{"Seed"}}, knobs.check, "has no field Pause"},
	} {
		f := &faults{TB: t}
		fieldtest.Config(f, c.rules, c.use)
		if c.want == "" {
			require.Empty(t, f.said, c.name)
			continue
		}
		require.NotEmpty(t, f.said, c.name)
		require.Contains(t, f.said[0], c.want, c.name)
	}
}
