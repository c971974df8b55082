// Package parquetrows reads the rows of an Apache Parquet file as JSON objects, one after the other, from an
// io.ReaderAt.
//
// It reads the footer first and then the column chunks as the rows need them: at any time it holds the footer, one
// page of each column of one row group and a few rows. It never writes, never starts a goroutine and does not know
// where the file is stored. Any defect of a file is an error, never a panic.
//
// How the real service represents Parquet's types in JSON is not documented. Here
//
//   - integers, floating point numbers and decimals are numbers, decimals with all digits of their scale; NaN and
//     the infinities, which JSON does not have, are null;
//   - strings, enumerations and embedded JSON are strings; bytes without a logical type are a string if they are
//     UTF-8, as older writers store text, and otherwise Base64, like BSON;
//   - dates are "2006-01-02", times "15:04:05.999", timestamps ISO 8601, with a Z if they are in UTC, as INT96 ones
//     are; a fraction has no trailing zeros; UUIDs have their usual form;
//   - lists and repeated fields are arrays, maps are objects whose names are the keys as text, groups are objects;
//   - an absent value is null; its member is not omitted.
package parquetrows
