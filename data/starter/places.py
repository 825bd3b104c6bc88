"""Places, positions, people's names and expressions of time in the starter corpus."""

from __future__ import annotations

# Two-way prepositions: where somebody is (dative) and where somebody goes.
# "Park: in, in = in": location, direction (accusative; "zu" takes the dative) = English location.
PLACE_TABLE = """
    Küche: in, in = in
    Zimmer: in, in = in
    Büro: in, in = in
    Schule: in, in = at
    Kirche: in, in = in
    Bahnhof: an, zu = at
    Flughafen: an, zu = at
    Museum: in, in = in
    Restaurant: in, in = in
    Café: in, in = in
    Bibliothek: in, in = in
    Krankenhaus: in, in = in
    Supermarkt: in, in = in
    Theater: in, in = in
    Kino: in, in = in
    Hotel: in, in = in
    Universität: an, zu = at
    Schloss: in, zu = in
    Park: in, in = in
    Wald: in, in = in
    Garten: in, in = in
    Stadt: in, in = in
    Dorf: in, in = in
    Markt: auf, auf = at
    See: an, an = at
    Strand: an, an = on
"""

# Where things lie and stand: preposition = English: nouns.
POSITION_TABLE = """
    auf = on: Tisch Stuhl Bett Sofa Teppich Schrank Koffer
    unter = under: Tisch Bett Stuhl Sofa
    neben = next to: Tisch Bett Sofa Lampe Computer Tür Radio Koffer
    hinter = behind: Sofa Schrank Tür Haus Spiegel
    vor = in front of: Tür Haus Schrank Spiegel Fenster
    in = in: Schrank Küche Büro Koffer Tasche
"""

MEN = (
    "Peter",
    "Paul",
    "Jan",
    "Martin",
    "Karl",
    "Tim",
    "Michael",
    "David",
    "Daniel",
    "Stefan",
)
WOMEN = (
    "Anna",
    "Maria",
    "Lena",
    "Julia",
    "Eva",
    "Laura",
    "Sophie",
    "Emma",
    "Clara",
    "Nina",
)
SURNAMES = (
    "Müller",
    "Weber",
    "Schneider",
    "Fischer",
    "Wagner",
)
CITIES = """
    Berlin = Berlin
    Hamburg = Hamburg
    München = Munich
    Köln = Cologne
    Wien = Vienna
    Leipzig = Leipzig
    Dresden = Dresden
    Frankfurt = Frankfurt
    Zürich = Zurich
    London = London
    Paris = Paris
    Rom = Rome
    Prag = Prague
    Lissabon = Lisbon
    Bremen = Bremen
    Warschau = Warsaw
    Deutschland = Germany
    Österreich = Austria
    Frankreich = France
    Italien = Italy
"""

# Where an activity can take place.
PLACES_FOR = {
    "schlafen": "Zimmer Hotel Garten Park",
    "arbeiten": "Büro Krankenhaus Schule Bibliothek Garten Restaurant Hotel Museum Supermarkt",
    "warten": "Bahnhof Flughafen Restaurant Café Park Hotel Krankenhaus Büro",
    "spielen": "Garten Park Wald Strand Zimmer",
    "singen": "Kirche Garten Schule Park Theater",
    "tanzen": "Küche Garten Theater Hotel Restaurant",
    "frühstücken": "Küche Hotel Café Garten",
    "einkaufen": "Supermarkt Stadt Dorf",
    "lesen": "Bibliothek Garten Park Zimmer Café Schule",
    "schreiben": "Büro Bibliothek Zimmer Café Universität",
    "essen": "Restaurant Küche Garten Park Café Schule",
    "trinken": "Restaurant Küche Garten Café Hotel",
    "bestellen": "Restaurant Café Hotel",
    "kaufen": "Stadt Dorf",
    "treffen": "Park Stadt Café Museum Bahnhof Flughafen Restaurant Schule Kino Bibliothek",
    "sprechen": "Büro Café Schule Garten Hotel",
    "fotografieren": "Park Wald Dorf Strand Stadt",
    "sehen": "Park Wald Stadt Garten",
    "finden": "Küche Garten Park Zimmer Büro Wald",
    "verlieren": "Stadt Park Kino Wald Bahnhof",
    "vergessen": "Büro Schule Restaurant Hotel Theater",
}

# Expressions of time by tense.  "Sonntag" and the like are filled in by the program.
TIMES = {
    "present": """
        gerade = right now
        jetzt = now
        im Moment = at the moment
    """,
    "habit": """
        jeden Tag = every day
        jeden Morgen = every morning
        jeden Abend = every evening
        jede Woche = every week
        jeden {day} = every {day}
        am Wochenende = on the weekend
        am Abend = in the evening
        am Morgen = in the morning
    """,
    "past day": """
        gestern = yesterday
        gestern Abend = yesterday evening
        heute Morgen = this morning
        vorgestern = the day before yesterday
        am {day} = on {day}
        letzten {day} = last {day}
    """,
    "past": """
        gestern = yesterday
        letzte Woche = last week
        letzten {day} = last {day}
        letztes Jahr = last year
        letzten Sommer = last summer
        am {day} = on {day}
        im {month} = in {month}
        vor {number} Tagen = {number} days ago
        vor {number} Wochen = {number} weeks ago
    """,
    "future day": """
        morgen = tomorrow
        morgen früh = tomorrow morning
        heute Abend = this evening
        nächsten {day} = next {day}
        bald = soon
    """,
    "habit travel": """
        jedes Jahr = every year
        jeden Sommer = every summer
        jeden Winter = every winter
        im Sommer = in the summer
        jeden {day} = every {day}
        am Wochenende = on the weekend
    """,
    "future": """
        morgen = tomorrow
        übermorgen = the day after tomorrow
        morgen früh = tomorrow morning
        heute Abend = this evening
        nächste Woche = next week
        nächsten {day} = next {day}
        nächstes Jahr = next year
        in {number} Tagen = in {number} days
        bald = soon
    """,
    "narrative day": """
        eines Tages = one day
        eines Morgens = one morning
        eines Abends = one evening
    """,
    "narrative": """
        damals = at that time
        eines Tages = one day
        vor vielen Jahren = many years ago
    """,
}
OFTEN = """
    oft = often
    immer = always
    manchmal = sometimes
    selten = rarely
    nie = never
    normalerweise = usually
"""
DAYS = """
    Montag = Monday
    Dienstag = Tuesday
    Mittwoch = Wednesday
    Donnerstag = Thursday
    Freitag = Friday
    Samstag = Saturday
    Sonntag = Sunday
"""
MONTHS = """
    Januar = January
    Februar = February
    März = March
    April = April
    Mai = May
    Juni = June
    Juli = July
    August = August
    September = September
    Oktober = October
    November = November
    Dezember = December
"""
NUMBERS = """
    zwei = two
    drei = three
    vier = four
    fünf = five
    sechs = six
    sieben = seven
    acht = eight
    neun = nine
    zehn = ten
"""
