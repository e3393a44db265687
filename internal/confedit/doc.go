// Package confedit changes a few entries in the config files of other
// programs and leaves every other byte as it was.
//
// In comes a file (JSON, JSON with comments, or TOML) and a handful of edits:
// append this element, set that key, remove the one we added. Out goes the
// file with those edits, written beside and renamed into place, with a dated
// backup of what a person had there before. Comments, key order, indentation,
// line endings, byte-order mark, mode and symlinks survive.
//
// It never re-marshals a document, never writes a file that does not parse
// (before or after the edit), never guesses at a broken one, and knows nothing
// about hooks, servers or any particular client.
//
// # Undoing
//
// Two ways lead back, and [Revert] takes the better one:
//
//   - Nobody touched the file since we wrote it: the bytes from before are
//     restored from the backup. This is exact, always.
//   - Somebody did: our entries are taken out one by one ([JSON.Remove],
//     [TOML.Remove]) and the parents we created go too if nobody moved in
//     ([JSON.Prune], [TOML.Prune]). Taking out what was appended is written as
//     the mirror image of appending, so this is exact as well for every byte
//     the other person did not touch.
//
// What the second way needs to know, namely which parents are ours, is in the
// [Undo] that a write returns. Keep it and hand it back on removal.
package confedit
