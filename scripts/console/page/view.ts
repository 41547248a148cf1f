/** A page: its title, its content, and how often it is read again. */
export type View = { title: string; content: Node[]; everyMs?: number };

/** Reads and builds the page at an address. The signal ends the reading when another page is wanted. */
export type Show = (url: URL, id: string, signal: AbortSignal) => Promise<View>;
