"""Pages for people: `disorder view` over run folders, and the ground that every local server of the
package stands on.
"""
