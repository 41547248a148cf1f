// GENERATED from the migrations by `npm run generate`. DO NOT EDIT.

/** The newest migration that the function is made for. */
export const schemaVersion = '20261129173233';
