package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripts returns the files that choose what runs: .ci, the Makefile and the workflows.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{".ci/*", "Makefile", ".github/workflows/*"} {
		names, err := filepath.Glob(filepath.Join(repository(t), pattern))
		require.NoError(t, err)
		for _, name := range names {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			rel, err := filepath.Rel(repository(t), name)
			require.NoError(t, err)
			all[filepath.ToSlash(rel)] = string(b)
		}
	}
	return all
}

// namedTests are the tests that scripts name, each with its reason.
var namedTests = map[string]string{
	"TestPair":       "the program that plays with another machine is this test's",
	"TestEverywhere": "four machines' hashes of this one test are compared",
	"TestHidden":     "its flag says for how long a tab is hidden",
	"TestChain":      "its flag says how many ticks it plays",
}

// TestScriptsNameNoTests: a test says itself of what kind it is, so that a name that changes
// loses nothing. Scripts choose by package, by the kinds of costtest, or by what they find
// in the source.
func TestScriptsNameNoTests(t *testing.T) {
	all := scripts(t)
	require.Greater(t, len(all), 5, "found too few scripts: the test looks in the wrong place")
	used := map[string]bool{}
	for name, text := range all {
		for _, fault := range testsNamed(text, used) {
			t.Errorf("%s %s: declare its kind with internal/costtest and choose by that, or give a reason in namedTests", name, fault)
		}
	}
	for name := range namedTests {
		if !used[name] {
			t.Errorf("no script names %s any more: remove it from namedTests", name)
		}
	}
}

var (
	testName = regexp.MustCompile(`\b(?:Test|Example|Fuzz)[A-Z]\w*`)
	testFlag = regexp.MustCompile(`-(?:test\.)?(?:run|skip)[ =]+('[^']*'|"[^"]*"|\S+)`)
	anyTest  = regexp.MustCompile(`^(?:\^\$\$?|\$\w+|none|\^Fuzz)$`) // none, or those of a variable
)

// testsNamed returns what a script names, except namedTests, which it notes as used.
func testsNamed(text string, used map[string]bool) (faults []string) {
	for _, line := range strings.Split(text, "\n") {
		if code := strings.TrimSpace(line); strings.HasPrefix(code, "#") {
			continue
		}
		for _, name := range testName.FindAllString(line, -1) {
			if used[name] = true; namedTests[name] == "" {
				faults = append(faults, "names "+name)
			}
		}
		for _, m := range testFlag.FindAllStringSubmatch(line, -1) {
			value := strings.Trim(m[1], `'"`)
			if !anyTest.MatchString(value) && namedTests[strings.Trim(value, "^$")] == "" {
				faults = append(faults, "chooses tests by "+m[0])
			}
		}
	}
	return faults
}

// TestNamedTestsAreFound: the lists that scripts had before, and what may stand in one.
func TestNamedTestsAreFound(t *testing.T) {
	for line, faults := range map[string]int{
		"go test -run '^Test(Check|ProcessesFall)' ./simtest":  1,
		"go test -skip 'AllocatesNothing$' ./ecs":              1,
		"SECONDS_EACH = ^Test(InputDepth.*|TwoWorlds)$$":       0, // found where it is used
		"go test -run TestSiege .":                             2,
		`go test -run "$names" "$dir"`:                         0,
		"go test -run none -bench Recorder ./flight":           0,
		`"$work/a" -test.run '^TestPair$' -test.v`:             0,
		"go test -run '^$' -bench . ./ecs":                     0,
		"# go test -run TestSiege, as a comment says":          0,
		"go test -skip='^Test(OnFull|Recycle)$' ./ecs ./input": 1,
	} {
		require.Len(t, testsNamed(line, map[string]bool{}), faults, line)
	}
}

// TestPartsFitTheirTime: CONTRIBUTING's table has every part that .ci/run runs, in its lane,
// and reserves time for parts to come. Neither lane takes more than half an hour.
func TestPartsFitTheirTime(t *testing.T) {
	run := scripts(t)[".ci/run"]
	lanes := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^lane_(one|two)="(.*)"$`).FindAllStringSubmatch(run, -1) {
		for _, part := range strings.Fields(m[2]) {
			lanes[part] = m[1]
		}
	}
	require.Greater(t, len(lanes), 10)
	sum := map[string]int{}
	reserved := 0
	for _, m := range regexp.MustCompile("(?m)^\\| (`?)([a-z0-9 ]+)`? \\| (one|two) \\| (\\d+) \\|").FindAllStringSubmatch(document(t, "CONTRIBUTING.md"), -1) {
		seconds, err := strconv.Atoi(m[4])
		require.NoError(t, err)
		sum[m[3]] += seconds
		if m[1] == "" {
			reserved++
			require.LessOrEqual(t, seconds, 60, "%s has no part yet", m[2])
			continue
		}
		require.Equal(t, m[3], lanes[m[2]], "CONTRIBUTING's row of %s names another lane than .ci/run", m[2])
		delete(lanes, m[2])
	}
	require.Empty(t, lanes, "parts without a row in CONTRIBUTING's table: add their lane and seconds")
	require.NotZero(t, reserved)
	for lane, seconds := range sum {
		require.LessOrEqual(t, seconds, 1800, "lane %s takes more than half an hour", lane)
	}
}

// TestEveryLongPartIsExplained: each part that only runs before a release, or in the night, has
// a row in CONTRIBUTING that says what it found and what finds that in each change.
func TestEveryLongPartIsExplained(t *testing.T) {
	list := regexp.MustCompile(`(?m)^long="(.*)"$`).FindStringSubmatch(scripts(t)[".ci/run"])
	require.NotNil(t, list)
	nightly := scripts(t)[".github/workflows/nightly.yml"]
	for _, part := range []string{"long_s390x", "long_debug", "long_fuzz", "long_campaigns", "long_module"} {
		require.Contains(t, strings.Fields(list[1]), part)
		require.Contains(t, nightly, part)
		require.Contains(t, document(t, "CONTRIBUTING.md"), "| `"+part+"` | ", "which row says what it found?")
	}
}
