/** How long a stage holds the event loop before it lets others run, in ms. */
export const sliceMs = 4;
