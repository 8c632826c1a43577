// Package optiontest plays the options of a game in pairs. Its tests list every option of both
// configs and of declarations from the source, so a new one fails until it is played. A seed
// makes few matches in which each pair of options meets, unless a table says who refuses it.
package optiontest
