// Package coder turns words into bits and back.
//
// A word is an int32, a part of a component's quantised value. The package knows
// nothing of components or entities. Its input is words, the words of up to three
// baselines, and a [Code] for each word, which is a struct of numbers. From the
// baselines it predicts each word, and codes the error of the prediction.
//
//	BitWriter, BitReader      bits, Exp-Golomb numbers, gaps between wire ids
//	Grouper, RangeEncoder     flags: a range coder with static probabilities
//	Tables                    the probabilities, Huffman codes and weights of motion
//	Encoder, Decoder          scalars, vectors, rotations, strings, and runs of scalars
//	Tally                     counts coded values, to learn tables from
//
// An Encoder or Decoder belongs to one goroutine. Tables never change. Decoding does
// not stop at an error: past the end a [BitReader] returns zeros and sets Bad.
package coder
