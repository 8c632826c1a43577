package releasetest

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
)

// Nested are the directories of the nested modules that are released with the root: those
// that users run or import by their version.
var Nested = []string{"cmd/foretick-vet", "stats/collector"}

// replaces finds a replace in a go.mod: nobody can use such a module by its version.
var replaces = regexp.MustCompile(`(?m)^\s*replace(\s|$)`)

// Release writes the root module and those of Nested as Version into dir, in the layout of a
// module proxy: "file://" and dir is one. root is the repository.
func Release(dir, root string) error {
	for _, nested := range append([]string{"."}, Nested...) {
		at := filepath.Join(dir, filepath.FromSlash(path.Join(Module, nested)), "@v")
		if err := releaseModule(at, root, nested); err != nil {
			return fmt.Errorf("release %s: %w", path.Join(Module, nested), err)
		}
	}
	return nil
}

// releaseModule writes one module's files for a proxy to directory at.
func releaseModule(at, root, nested string) error {
	from := filepath.Join(root, filepath.FromSlash(nested))
	mod, err := os.ReadFile(filepath.Join(from, "go.mod")) // #nosec G304 -- of the repository
	if err != nil {
		return err
	}
	if replaces.Match(mod) {
		return errors.New("its go.mod has a replace, so that nobody can use it by its version")
	}
	if err := os.MkdirAll(at, 0o750); err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"list":            []byte(Version + "\n"),
		Version + ".info": []byte(`{"Version":"` + Version + `"}`),
		Version + ".mod":  mod,
	} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o600); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(at, Version+".zip")) // #nosec G304 -- in the proxy
	if err != nil {
		return err
	}
	err = errors.Join(zipModule(f, root, nested), f.Close())
	return err
}

// zipModule writes the zip of a module as the go command makes it from a tagged commit:
// regular files, without nested modules, vendored packages and what belongs to version
// control. A nested module without a licence has the repository's.
func zipModule(w io.Writer, root, nested string) error {
	from, prefix := filepath.Join(root, filepath.FromSlash(nested)), path.Join(Module, nested)+"@"+Version+"/"
	z := zip.NewWriter(w)
	licensed := false
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != from && (outsideModule(d.Name()) || isModule(name)) {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(from, name)
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		licensed = licensed || rel == "LICENSE"
		return zipFile(z, prefix+filepath.ToSlash(rel), name)
	})
	if err == nil && !licensed {
		err = zipFile(z, prefix+"LICENSE", filepath.Join(root, "LICENSE"))
	}
	return errors.Join(err, z.Close())
}

// outsideModule reports whether a directory of that name is in no module's zip. What .ci/run
// keeps for people is in no commit.
func outsideModule(name string) bool {
	return slices.Contains([]string{".git", ".hg", ".svn", ".bzr", "vendor", "artefacts"}, name)
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func zipFile(z *zip.Writer, name, from string) error {
	to, err := z.Create(name)
	if err != nil {
		return err
	}
	f, err := os.Open(from) // #nosec G304 -- of the repository
	if err != nil {
		return err
	}
	_, err = io.Copy(to, f)
	return errors.Join(err, f.Close())
}
