// Command foretick-vet finds game code whose result differs from one machine to the next,
// or from a tick to its replay: fused products, functions of package math, ranges over
// maps, clocks, random numbers, goroutines and state outside of the world.
//
//	go run github.com/foretick/foretick/cmd/foretick-vet ./...
//	foretick-vet -fix ./...
//	go vet -vettool=$(which foretick-vet) ./...
//
// Package machines lists the checks.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/foretick/foretick/cmd/foretick-vet/machines"
)

func main() { multichecker.Main(machines.Analyzer) }
