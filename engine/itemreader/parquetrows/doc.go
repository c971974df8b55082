// Package parquetrows reads the rows of an Apache Parquet file as JSON objects, one after the other, over an
// io.ReaderAt.
//
// It reads the footer first and then the column chunks as the rows need them: what is held at a time is the footer, one
// page of each column of one row group and a few rows. It never writes, never starts a goroutine and knows nothing of
// where the file lies. Whatever is wrong with a file is an error, never a panic.
//
// It is not documented how the real service shows Parquet's types in JSON. Here
//
//   - integers, floating point numbers and decimals are numbers, decimals with all digits of their scale; NaN and
//     the infinities,
//     which JSON does not have, are null;
//   - strings, enumerations and embedded JSON are strings; bytes without a type of their own are a string when they
//     are UTF-8, as older
//     writers store text, and otherwise Base64, like BSON;
//   - dates are "2006-01-02", times "15:04:05.999", timestamps ISO 8601, with a Z when they are in UTC, as INT96 ones are; a
//     fraction has no zeros at its end; UUIDs have their usual form;
//   - lists and repeated fields are arrays, maps are objects whose names are the keys as text, groups are objects;
//   - what is missing is null; it does not vanish.
package parquetrows
