package main

import "testing"

func TestOnlyTheSectionChanges(t *testing.T) {
	section := begin + "\nnew\n" + end + "\n"
	for _, c := range []struct{ name, old, want string }{
		{"no file yet", "# Benchmarks\n", "# Benchmarks\n\n" + section},
		{"in between", "a\n" + begin + "\nold\n" + end + "\nb\n", "a\n" + section + "b\n"},
		{"at the end", "a\n" + begin + "\nold\n" + end + "\n", "a\n" + section},
	} {
		got, err := replace([]byte(c.old), section)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, old := range []string{"a\n" + begin + "\n", end + "\n" + begin + "\n"} {
		if _, err := replace([]byte(old), section); err == nil {
			t.Errorf("%q: no error", old)
		}
	}
}

func TestFigures(t *testing.T) {
	for ratio, want := range map[float64]string{0: "–", 1.234: "1.23", 9.99: "9.99", 123.4: "123"} {
		if got := figure(ratio); got != want {
			t.Errorf("figure(%v) is %q, want %q", ratio, got, want)
		}
	}
}
