// Package itemreader reads the items of a distributed Map from S3, one at a time and in constant memory: CSV, JSON,
// JSON Lines and Parquet objects, object listings, all objects of a listing (LOAD_AND_FLATTEN), S3 inventories and
// Athena manifests.
//
// It never holds a whole object in memory, never evaluates an ItemSelector, never starts a goroutine and never calls
// S3 itself: it gets objects through the small interface Objects. Every error in the data or of S3 is an *Error,
// which the engine reports as States.ItemReaderFailed; the cancellation of a context is not.
//
// Where AWS's behaviour is documented or has been observed, this package behaves the same. Where it is unknown, these
// choices are made:
//
//   - a UTF-8 byte order mark is dropped; UTF-16, and items that are not UTF-8, are refused, naming line and byte;
//   - empty lines are skipped, in CSV also before the header; CR LF counts as a newline;
//   - a CSV quotation mark inside an unquoted field is an ordinary character, and so is text after a closing one;
//     a doubled one counts as one there, too, as in the Developer Guide's example;
//   - a quoted CSV field that is never closed is an error, not the rest of the file;
//   - an empty CSV object has no items; an empty JSON object is an error;
//   - a JSON document that is itself an object is refused, as recorded; an object at the ItemsPointer is iterated.
//
// Parquet is a Format that the program registers. It is read in pieces, starting at the end of the object; package
// parquetrows documents how its types are converted. Inventories in ORC or Parquet format are refused, as by AWS,
// with a message that says what to do.
package itemreader
