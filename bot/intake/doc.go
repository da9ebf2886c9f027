// Package intake takes in what people do on chat platforms: it decides what an
// event means and who may do it, writes it down in one commit, and says what the
// platform answers at once.
package intake
