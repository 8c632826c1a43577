// Package mathf has the functions of package math in float32, equal to the bit on every
// architecture. Use it in systems that clients predict.
//
// Package math has assembly for some functions on some architectures, and the compiler
// joins a product and a sum to one operation (fused multiply-add) on arm64, ppc64, s390x
// and riscv64, and on amd64 where it builds for GOAMD64=v3 or later, which is not the
// default. Both change the last bits of a result, and a client
// then predicts something else than its server computes. This package uses neither: it
// computes in float64, rounds each product with an explicit conversion, and rounds the
// result to float32 once.
//
// The caller's own arithmetic has to do the same. Write a product that is added to
// something with a conversion:
//
//	x += float32(vx * dt) // x += vx * dt differs between machines
//
// Results are within 0.501 units in the last place of the exact value: of a million
// inputs of each function all were the nearest float32. Special cases are those of
// package math. The package uses the standard library only.
//
// Compatibility: promised. See docs/COMPATIBILITY.md.
package mathf
