/** Name and code (of Zoho Books) of each state of GST. */
const states: Readonly<Record<string, readonly [name: string, code: string]>> = {
  '01': ['Jammu and Kashmir', 'JK'],
  '02': ['Himachal Pradesh', 'HP'],
  '03': ['Punjab', 'PB'],
  '04': ['Chandigarh', 'CH'],
  '05': ['Uttarakhand', 'UK'],
  '06': ['Haryana', 'HR'],
  '07': ['Delhi', 'DL'],
  '08': ['Rajasthan', 'RJ'],
  '09': ['Uttar Pradesh', 'UP'],
  '10': ['Bihar', 'BR'],
  '11': ['Sikkim', 'SK'],
  '12': ['Arunachal Pradesh', 'AR'],
  '13': ['Nagaland', 'NL'],
  '14': ['Manipur', 'MN'],
  '15': ['Mizoram', 'MZ'],
  '16': ['Tripura', 'TR'],
  '17': ['Meghalaya', 'ML'],
  '18': ['Assam', 'AS'],
  '19': ['West Bengal', 'WB'],
  '20': ['Jharkhand', 'JH'],
  '21': ['Odisha', 'OD'],
  '22': ['Chhattisgarh', 'CG'],
  '23': ['Madhya Pradesh', 'MP'],
  '24': ['Gujarat', 'GJ'],
  '26': ['Dadra and Nagar Haveli and Daman and Diu', 'DN'],
  '27': ['Maharashtra', 'MH'],
  '29': ['Karnataka', 'KA'],
  '30': ['Goa', 'GA'],
  '31': ['Lakshadweep', 'LD'],
  '32': ['Kerala', 'KL'],
  '33': ['Tamil Nadu', 'TN'],
  '34': ['Puducherry', 'PY'],
  '35': ['Andaman and Nicobar Islands', 'AN'],
  '36': ['Telangana', 'TS'],
  '37': ['Andhra Pradesh', 'AD'],
  '38': ['Ladakh', 'LA'],
  '96': ['Other Countries', ''],
  '97': ['Other Territory', 'OT'],
};

/** The name of a state, such as Rajasthan; empty where the code is none. */
export function stateName(code: string | null): string {
  return states[code ?? '']?.[0] ?? '';
}

/** The code of a state in Zoho Books, such as RJ; empty for other countries. */
export function zohoCode(code: string | null): string {
  return states[code ?? '']?.[1] ?? '';
}

/** As the offline tool has it: `08-Rajasthan`. A spreadsheet makes `08` to `8`. */
export function placeText(code: string | null): string {
  return code === null ? '' : `${code}-${stateName(code)}`;
}

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** The name of a country by its two letters; India where there are none. */
export function countryName(code: string | null | undefined): string {
  return regions.of(code ?? 'IN') ?? '';
}
