// Package quantise turns a component's value into words and back.
//
// Package schema compiles a [Plan] from tags. A Plan has a [Leaf] for each number,
// string, reference or rotation, with its [Class] and its place in memory and in the
// words. The package quantises values on two grids, restores, interpolates, packs and
// checks them. For each audience it describes how package coder codes the words
// ([Plan.Coding]).
//
// To add a tag, read it in package schema (tags.go), store its meaning in [Leaf] or
// [Shape], and use it here. A new sort of field is a new [Class]: class.go lists the
// places to change, and a test walks all classes.
//
// A Plan never changes and is safe for use by many goroutines, unless it is bound to
// another one ([NewBinding]).
package quantise
