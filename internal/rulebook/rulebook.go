// Package rulebook reads rule files. In comes TOML, out go the sections as the
// packs declare them, or an error that says which file, line and column is wrong
// and why. It is strict: a key that nobody knows is an error, since a rule with a
// typing mistake would be a rule that never fires.
package rulebook

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// MaxBook bounds a rule file in bytes.
const MaxBook = 1 << 20

// Error is a fault in a rule file.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 where unknown
	Key          string // dotted, where one is at fault
	Problem      string
}

// Error says what is wrong and where, in one line.
func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Key != "" {
		return fmt.Sprintf("%s: %s: %s", where, e.Key, e.Problem)
	}
	return where + ": " + e.Problem
}

// Decode reads data, which came from file, into the struct at into.
func Decode(file string, data []byte, into any) error {
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return checkWords(file, data, into)
	}
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		line, column := first.Position()
		return &Error{file, line, column, strings.Join(first.Key(), "."), "there is no such key"}
	}
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := at.Position()
		return &Error{file, line, column, strings.Join(at.Key(), "."), strings.TrimPrefix(at.Error(), "toml: ")}
	}
	return &Error{File: file, Problem: strings.TrimPrefix(err.Error(), "toml: ")}
}

// Load reads a rule file into the struct at into. The error is fs.ErrNotExist
// where there is no such file; then into is as it was.
func Load(file string, into any) error {
	f, err := Read(file)
	if err != nil {
		return err
	}
	return Decode(file, f.Data, into)
}
