package benchmarks

import "math/rand/v2"

// Position and Velocity are the two components of 16 bytes.
type Position struct{ X, Y, Z, W float32 }

// Velocity is the other component.
type Velocity struct{ X, Y, Z, W float32 }

// Library does the work of the benchmark with one library. A method returns the
// zero Work if the library has no way to do it.
type Library interface {
	// Iterate adds velocity to position in every row, X and Y. The rows are
	// spread over sets component sets.
	Iterate(rows, sets int) Work
	// Get adds 1 to the X of every entity, in the given order.
	Get(order []int) Work
	// Create creates entities of two components in an empty world, one by one.
	Create(n int) Work
	// CreateBatch creates them with one call.
	CreateBatch(n int) Work
	// Destroy destroys them one by one, in order of creation.
	Destroy(n int) Work
	// AddRemove adds a component to each entity, and removes it again.
	AddRemove(n int) Work
	// Transfer moves each entity from one group to another: an owner, the
	// target of a relation, or a tag. The next run moves them back.
	Transfer(n int) Work
	// Save copies the world to the next of slots saves.
	Save(n, slots int) Work
	// Restore copies it back; no entity was created or destroyed in between.
	Restore(n, slots int) Work
	// SaveChanged is Save after every entity was replaced since the last save
	// to that slot.
	SaveChanged(n, slots int) Work
	// RestoreChanged is Restore of a different world than the current one,
	// including its entities and their handles.
	RestoreChanged(n, slots int) Work
	// Sum returns the sum of all positions' X, to verify that the work was
	// done.
	Sum() float64
}

// Case is one line of the table.
type Case struct {
	Name string
	Of   string // describes the plain baseline
	Work func(Library) Work
}

const churn = 1000

// Cases returns the lines of the table.
func Cases() []Case {
	const slots = 32
	at := func(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }
	return []Case{
		{"iterate 100", "a loop over a slice of structs", func(l Library) Work { return l.Iterate(100, 1) }},
		{"iterate 1 000", "", func(l Library) Work { return l.Iterate(1000, 1) }},
		{"iterate 10 000", "", func(l Library) Work { return l.Iterate(10_000, 1) }},
		{"iterate 1 000 in 32 component sets", "", func(l Library) Work { return l.Iterate(1000, 32) }},
		{"random access, 1 000", "`a[idx[i]]`", func(l Library) Work { return l.Get(at(1000)) }},
		{"random access, 10 000", "", func(l Library) Work { return l.Get(at(10_000)) }},
		{"create, one by one", "`append` into memory that is there", func(l Library) Work { return l.Create(churn) }},
		{"create, a batch", "", func(l Library) Work { return l.CreateBatch(churn) }},
		{"destroy", "", func(l Library) Work { return l.Destroy(churn) }},
		{"add and remove a component", "", func(l Library) Work { return l.AddRemove(churn) }},
		{"transfer", "", func(l Library) Work { return l.Transfer(churn) }},
		{"save 10 000 × 32 B, same entities", "`copy`", func(l Library) Work { return l.Save(10_000, slots) }},
		{"restore, same entities", "", func(l Library) Work { return l.Restore(10_000, slots) }},
		{"save, all entities replaced", "", func(l Library) Work { return l.SaveChanged(10_000, slots) }},
		{"restore, all entities replaced", "", func(l Library) Work { return l.RestoreChanged(10_000, slots) }},
	}
}

// Libraries lists the libraries in the order of the table's columns, and
// creates a new instance for each case.
func Libraries() []struct {
	Name string
	New  func() Library
} {
	return []struct {
		Name string
		New  func() Library
	}{
		{"foretick", func() Library { return &foretick{} }},
		{"ark", func() Library { return &arkWorld{} }},
		{"donburi", func() Library { return &donburiWorld{} }},
	}
}

// Run runs one case. It returns the time of the plain slices in ns, and each
// library's ratio to it; 0 where the library has no result.
func (c Case) Run(rounds int) (ns float64, ratios []float64) {
	var subjects []Work
	for _, l := range Libraries() {
		subjects = append(subjects, c.Work(l.New()))
	}
	return Compare(rounds, c.Work(&plain{}), subjects...)
}
