/**
 * `npm run generate`: writes every generated file: schema version and types of the database, description of the API,
 * mails, fonts of receipts, registry, and the lock file and list of the deployed packages.
 */
import { readArguments, refusePositionals } from './command-line.ts';
import { generateDependencies } from './generate/dependencies.ts';
import { generateEmails } from './generate/emails.ts';
import { generateOpenapi } from './generate/openapi.ts';
import { generateReceiptFonts } from './generate/receipt-fonts.ts';
import { generateRegistry } from './generate/registry.ts';
import { generateTypes } from './generate/types.ts';

readArguments(
  `Usage: npm run generate
  writes every generated file: schema version and types of the database, description of the API, mails, fonts of
  receipts, registry, and the lock file and list of the deployed packages`,
  {},
  (_, positionals) => refusePositionals(positionals),
);
await generateTypes();
await generateOpenapi();
await generateEmails();
await generateReceiptFonts();
// What these two write contains what the steps before them wrote.
await generateRegistry();
await generateDependencies();
