// Package families has a scripted model use each family of tools that reaches out,
// through the real loop, store, policy and kit, against local servers: under the
// tools' own names and under those of AutoGPT's commands.
package families
