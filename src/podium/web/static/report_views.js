// Views that only a report has. The page that a process serves has none; a report is made with a
// module of this name that names its own.
// @ts-check

/** @type {Record<string, {title: string, show: import("./main.js").Show, inReport: boolean}>} */
export const REPORT_VIEWS = {};
