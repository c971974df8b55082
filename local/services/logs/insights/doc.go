// Package insights reads and carries out queries in the language of CloudWatch Logs Insights: fields, display,
// filter, stats, sort, limit, parse and dedup, in a row of commands with | between them. What it does not have is
// refused by its name and place. It is pure: it reads no logs and knows no time.
//
// A value is a text, a number or absent. Texts that are numbers compare as numbers. Fields that no command has made are
// those of the event (@timestamp, @message, @logStream, @log, @ingestionTime, @ptr), of the reports of Lambda
// (@requestId, @type, @duration, @billedDuration, @initDuration, @memorySize, @maxMemoryUsed), and members of messages
// that are JSON, with dots: detail.items.0.name.
package insights
