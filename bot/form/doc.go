// Package form holds the forms that people fill in: which fields each has, how
// what was typed is read back, and how a form is shown again with everything
// that was typed where a value in it cannot be taken. Who may send a form in, and
// what comes of it, is bot/intake's; how a form looks is a platform's.
//
//	form.go    the forms with their fields
//	edit.go    edited arguments, with the types that they had
//	wrong.go   what is wrong with a value, and the form once more
package form
